import { expect, test, vi } from 'vitest';
import type { Message } from '../../src/conversation/message.js';
import type { CompressOptions, EngineContext } from '../../src/engines/contract.js';
import type { EngineSource } from '../../src/engines/engine-shape.js';
import { contextEngineChecks } from '../../src/testing/testing.js';
import { BROKEN } from './support/broken-engines.js';
import { GoodEngine } from './support/good-engine.js';

async function failures(source: EngineSource): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of contextEngineChecks(source)) {
    await run().catch((error: Error) => failed.push(`${name}: ${error.message}`));
  }
  return failed;
}

test('a good engine passes, as a class, as a factory, and without the base class', async () => {
  expect(await failures(GoodEngine)).toEqual([]);
  expect(await failures(async (context) => new GoodEngine(context))).toEqual([]);
  expect(
    await failures((context) => ({
      name: 'plain',
      compress: (messages: Message[], options: CompressOptions) =>
        new GoodEngine(context).compress(messages, options),
    })),
  ).toEqual([]);
});

test.each(BROKEN)(
  'an engine that breaks "%s" fails that check alone, and hears: %s',
  async (check, advice, source) => {
    const failed = await failures(source);
    expect(failed).toEqual([expect.stringContaining(`${check}: `)]);
    expect(failed[0]).toContain(advice);
  },
);

test('every check can fail', () => {
  const names = contextEngineChecks(GoodEngine).map(({ name }) => name);
  expect(names).toHaveLength(24);
  expect(new Set(BROKEN.map(([check]) => check))).toEqual(new Set(names));
});

test('the options of the block are what the engine is built with', async () => {
  const factory = vi.fn((context: EngineContext) => new GoodEngine(context));
  for (const { run } of contextEngineChecks(factory, { options: { keep: 3 } })) await run();
  expect(factory.mock.calls.every(([{ options }]) => Object(options).keep === 3)).toBe(true);
});
