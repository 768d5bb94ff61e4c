import { expect, test } from 'vitest';
import { loadClient } from '../../src/demo/openai-client.js';

test('says what to install where the optional client is missing', async () => {
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  await expect(loadClient(() => Promise.reject(missing))).rejects.toThrow(
    'the demo needs the optional package openai: install again with npm install --include=optional',
  );
});

test('does not take another failure for a missing package', async () => {
  const broken = new SyntaxError('broken');
  await expect(loadClient(() => Promise.reject(broken))).rejects.toBe(broken);
});

test('reports a server that is not there as no answer', async () => {
  const chat = (await loadClient())('http://127.0.0.1:9');
  const body = { model: 'm', messages: [] };
  expect(await chat({ body, stream: false, headers: {} })).toMatchObject({ status: undefined });
});
