import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Message } from '../../src/conversation/message.js';
import { cloneEngine } from '../../src/engines/clone-engine.js';
import type { EngineFactory } from '../../src/engines/contract.js';
import { createEngineRegistry } from '../../src/engines/registry.js';
import { pluginHost } from '../../src/server/load-plugins.js';
import { contextEngineChecks, TRANSCRIPTS, testServices } from '../../src/testing/testing.js';
import { engineContextOf, PluginFolder } from './support/plugin-folder.js';

const EXAMPLE = resolve(import.meta.dirname, '../../examples/engine');
const folder = new PluginFolder();

beforeAll(() => {
  cpSync(EXAMPLE, join(folder.pluginsDir, 'sliding-window'), { recursive: true });
  cpSync(EXAMPLE, join(folder.base, 'node_modules/incontext-sliding-window'), { recursive: true });
});
afterAll(() => folder.remove());

const example: EngineFactory = async (context) => {
  const registry = createEngineRegistry();
  const { register } = (await import(pathToFileURL(join(EXAMPLE, 'index.js')).href)) as {
    register(context: unknown): void;
  };
  register(pluginHost('the example', { register() {} }, registry).context);
  return (await registry.choose('sliding-window', context)).prototype;
};

describe('the example keeps the contract', () => {
  for (const { name, run } of contextEngineChecks(example)) test(name, run);
});

test('it is found as a folder', async () => {
  const { engines } = await folder.load();
  const { origin } = await engines.choose('sliding-window', engineContextOf());
  expect(origin).toBe(`the folder ${join(folder.pluginsDir, 'sliding-window')}`);
});

test('it is found as an installed package', async () => {
  const { engines, refused } = await folder.load('incontext-sliding-window');
  expect(refused).toEqual([]);
  expect(engines.warnings).toEqual([
    expect.stringContaining('of the plugin "incontext-sliding-window", is refused'),
  ]);
  const alone = new PluginFolder();
  cpSync(EXAMPLE, join(alone.base, 'node_modules/incontext-sliding-window'), { recursive: true });
  const loaded = await alone.load('incontext-sliding-window');
  const chosen = await loaded.engines.choose('sliding-window', engineContextOf({ keep_turns: 2 }));
  expect(chosen.origin).toBe('the plugin "incontext-sliding-window"');
  expect(await cloneEngine(chosen, engineContextOf({ keep_turns: 2 }))).toMatchObject({ keepTurns: 2 });
  alone.remove();
});

test('it drops the oldest turns as a whole, leaves a note, and keeps as many turns as it is told', async () => {
  const engine = await example({ ...engineContextOf({ keep_turns: 3 }), services: testServices() });
  const messages = TRANSCRIPTS.find(({ what }) => what === 'parallel calls')?.messages() ?? [];
  const result = await engine.compress(messages, { currentTokens: 9000, targetTokens: 0 });
  expect(result.slice(0, 3)).toMatchObject([
    { role: 'system' },
    { role: 'user', content: expect.stringContaining('left out') },
    { role: 'assistant' },
  ]);
  expect(result.slice(3)).toEqual(messages.slice(messages.findLastIndex(startsTurnFromEnd(messages, 3))));
});

function startsTurnFromEnd(messages: readonly Message[], turns: number) {
  const starts = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  return (_message: Message, index: number) => index === starts.at(-turns);
}

test('it drops no more than it has to', async () => {
  const engine = await example(engineContextOf());
  const messages = TRANSCRIPTS.find(({ what }) => what === 'a long conversation')?.messages() ?? [];
  const few = await engine.compress(structuredClone(messages), { currentTokens: 6000, targetTokens: 5900 });
  const many = await engine.compress(structuredClone(messages), { currentTokens: 6000, targetTokens: 3000 });
  expect(few.length).toBeLessThan(messages.length);
  expect(many.length).toBeLessThan(few.length);
  await expect(async () =>
    engine.compress(messages, { currentTokens: 10, targetTokens: 5900 }),
  ).rejects.toMatchObject({
    name: 'IrreducibleError',
  });
});

test('it refuses to keep less than the last turn', async () => {
  for (const keep of [0, 1.5, 'two']) {
    await expect(example(engineContextOf({ keep_turns: keep }))).rejects.toMatchObject({
      name: 'EngineSettingsError',
      problems: [{ setting: 'engines.sliding-window.keep_turns', value: String(keep) }],
    });
  }
});
