import { expect, test } from 'vitest';
import type { ContextEngine } from '../../../src/engines/contract.js';
import { scriptedEngine } from '../../support/engine.js';
import { countingStub, dialogue, type HostedOptions, hosted, send } from '../../support/hosted.js';
import { CHAT } from '../../support/upstream-stub.js';

const refused = async (): Promise<ContextEngine> => {
  throw new Error('secret');
};
const never = () => new Promise<ContextEngine>(() => {});
const TALK = dialogue(40, 2900);

/** Sends a conversation over its window whose engine cannot be copied. */
async function uncopied(create: () => Promise<ContextEngine>, options: Partial<HostedOptions> = {}) {
  const engine = scriptedEngine();
  const stub = await countingStub();
  const choice = { ...engine.choice, create } as typeof engine.choice;
  const proxy = await hosted({ ...options, engine: { ...engine, choice }, stub });
  const { told } = await send(proxy, stub, TALK);
  const [summary] = stub.at(CHAT).map(({ body }) => JSON.parse(body.toString()));
  return { engine, proxy, told, cap: Number(summary.max_tokens) };
}

test.each([
  ['throws', refused],
  ['does not come back', never],
])(
  'the compressor serves a conversation whose engine %s at its copy, and the log says so',
  async (_, create) => {
    const { engine, proxy, told } = await uncopied(create, { hostLimits: { hookMs: 50 } });
    expect(proxy.logged.map(({ msg }) => msg)).toContain(
      "Context engine 'scripted' could not be safely copied for this agent",
    );
    expect(told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
    expect(engine.passes).toEqual([]);
    expect(JSON.stringify(proxy.logged)).not.toContain('secret');
  },
);

test('it serves by its own settings, and by its defaults where those are refused', async () => {
  const capOf = async (compressor?: Record<string, unknown>) =>
    (await uncopied(refused, { file: { engines: { compressor } } })).cap;
  const usual = await capOf({});
  expect(await capOf({ summary_max_tokens: 100 })).toBeLessThan(usual);
  expect(await capOf({ summary_max_tokens: 'few' })).toBe(usual);
});
