import { expect, onTestFinished, test } from 'vitest';
import { startProxy } from '../support/proxy.js';

test('a proxy in a program logs what is to be said of its engines', async () => {
  const proxy = await startProxy({
    upstream: 'http://127.0.0.1:9',
    engine: 'compressor',
    data: ':memory:',
    'plugins-dir': '/nowhere/engines',
  });
  onTestFinished(() => proxy.close());
  expect(proxy.logged).toContainEqual(
    expect.objectContaining({
      level: 40,
      msg: 'the folder of context engines /nowhere/engines cannot be read',
    }),
  );
});
