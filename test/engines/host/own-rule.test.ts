import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { ScriptedEngine, scriptedEngine } from '../../support/engine.js';
import { countingStub, dialogue, goOn, hosted, send } from '../../support/hosted.js';

/** An engine that has a rule of its own for when it compresses. */
function ruling(isDue: (pressure: number) => boolean | Promise<boolean>) {
  const pressures: number[] = [];
  class Ruling extends ScriptedEngine {
    override shouldCompress(pressure = 0): boolean | Promise<boolean> {
      pressures.push(pressure);
      return isDue(pressure);
    }
  }
  return { engine: scriptedEngine(undefined, Ruling), pressures };
}

/** An engine that says before each count whether it wants a pass. */
function wanting(wants: (messages: Message[]) => boolean | Promise<boolean>) {
  class Wanting extends ScriptedEngine {
    override shouldCompressPreflight(messages: Message[]): boolean | Promise<boolean> {
      return wants(messages);
    }
  }
  return scriptedEngine(undefined, Wanting);
}

const TALK = dialogue(4, 500);

test('asks an engine with a rule of its own about P + required - 1, and compresses where it says so', async () => {
  const { engine, pressures } = ruling((pressure) => pressure >= 600);
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub });
  const before = await send(proxy, stub, TALK, { more: { max_tokens: 100 } });
  expect(pressures).toEqual([Number(before.told['prompt-tokens']) + 100 - 1]);
  expect(engine.passes).toEqual([]);
  const after = await send(proxy, stub, TALK);
  expect(pressures[1]).toBe(Number(before.told['prompt-tokens']) + 256 - 1);
  expect(after.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
});

test('does not compress where the engine says that it is not due', async () => {
  const { engine } = ruling(() => false);
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub });
  const { told } = await send(proxy, stub, dialogue(4, 2900));
  expect(told.reason).toBe('clamped_to_context');
  expect(engine.passes).toEqual([]);
});

test('does the arithmetic itself where the rule throws or does not come back', async () => {
  for (const rule of [() => Promise.reject(new Error('secret')), () => new Promise<boolean>(() => {})]) {
    const { engine } = ruling(rule);
    const stub = await countingStub();
    const proxy = await hosted({ engine, stub, hostLimits: { hookMs: 50 } });
    expect((await send(proxy, stub, TALK)).told.action).toBe('unchanged');
    expect((await send(proxy, stub, dialogue(4, 2900))).told.reason).toBe('compression_due');
    expect(JSON.stringify(proxy.logged)).not.toContain('secret');
  }
});

test('compresses where the engine asks for it before anything is counted', async () => {
  const seen: Message[][] = [];
  const engine = wanting((messages) => {
    seen.push(messages);
    return messages.length > TALK.length;
  });
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub });
  expect((await send(proxy, stub, TALK)).told.action).toBe('unchanged');
  const { told } = await send(proxy, stub, goOn(TALK));
  expect(told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(seen[0]?.map(({ role, content }) => ({ role, content }))).toEqual(TALK);
  expect(engine.passes).toHaveLength(1);
});

test('goes on without a pass where that question fails', async () => {
  for (const wants of [() => Promise.reject(new Error('secret')), () => new Promise<boolean>(() => {})]) {
    const engine = wanting(wants);
    const stub = await countingStub();
    const proxy = await hosted({ engine, stub, hostLimits: { hookMs: 50 } });
    const { told, messages } = await send(proxy, stub, TALK);
    expect(told.action).toBe('unchanged');
    expect(messages).toEqual(TALK);
    expect(engine.passes).toEqual([]);
  }
});
