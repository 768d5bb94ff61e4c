import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { IrreducibleError } from '../../../src/engines/contract.js';
import { type Script, ScriptedEngine, scriptedEngine } from '../../support/engine.js';
import {
  countingStub,
  dialogue,
  goOn,
  hosted,
  LARGEST_THAT_FITS,
  send,
  tokensOf,
} from '../../support/hosted.js';

/** Makes the first message behind the head so many tokens shorter. */
const shorten =
  (tokens: number): Script =>
  (messages) =>
    messages.map((message, i) =>
      i === 1 ? { ...message, content: String(message.content).slice(0, -tokens * 4) } : message,
    );

/** The conversation one call of a tool later, so long that it takes just so many tokens. */
function workedUpTo(tokens: number, messages: readonly Message[]): Message[] {
  const id = `call-${messages.length}`;
  const call = { id, type: 'function', function: { name: 'bash', arguments: '{}' } };
  const result: Message = { role: 'tool', tool_call_id: id, content: '' };
  const longer = [...messages, { role: 'assistant', content: null, tool_calls: [call] }, result];
  result.content = 'x'.repeat((tokens - tokensOf(longer)) * 4);
  return longer;
}

test('repeats passes while they help, down to the low-water mark', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(shorten(700));
  const proxy = await hosted({ stub, engine, compression: { low_water: 0.6 } });
  const sent = await send(proxy, stub, dialogue(3, 3000));
  expect(engine.passes.map(({ options }) => options.currentTokens)).toEqual([3000, 2300]);
  expect(tokensOf(sent.messages)).toBe(1600);
  expect(sent.told).toMatchObject({
    reason: 'compression_due',
    'prompt-tokens': '1600',
    'original-prompt-tokens': '3000',
  });
});

test('makes at most three passes for one request', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(shorten(100));
  const proxy = await hosted({ stub, engine });
  const sent = await send(proxy, stub, dialogue(3, 3000));
  expect(engine.passes).toHaveLength(3);
  expect(sent.told).toMatchObject({ reason: 'compression_due', 'prompt-tokens': '2700' });
});

test('what the first pass gained is kept where the second one fails', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages, options, self) => {
    if (engine.passes.length > 1) throw new Error('broken');
    return shorten(300)(messages, options, self);
  });
  const proxy = await hosted({ stub, engine });
  const sent = await send(proxy, stub, dialogue(3, 3000));
  expect(engine.passes).toHaveLength(2);
  expect(sent.told).toMatchObject({ reason: 'compression_due', 'prompt-tokens': '2700' });
});

test('a view that cannot shrink is left alone until it has grown by 1024 tokens (NousResearch/hermes-agent#53008)', async () => {
  const stub = await countingStub({ window: 16_384 });
  const engine = scriptedEngine((messages) => messages);
  const proxy = await hosted({ stub, engine });
  let messages = dialogue(3, 12_100);
  for (const tokens of [0, 450, 450]) {
    messages = goOn(messages, 'x'.repeat(tokens * 4));
    expect((await send(proxy, stub, messages)).told.reason).toBe('clamped_to_context');
  }
  expect(engine.passes).toHaveLength(1);
  await send(proxy, stub, goOn(messages, 'x'.repeat(200 * 4)));
  expect(engine.passes).toHaveLength(2);
});

test('in a small window it has to grow by an eighth of it', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) => messages);
  const proxy = await hosted({ stub, engine });
  const first = dialogue(3, 3000);
  const almost = workedUpTo(3000 + 383, first);
  for (const messages of [first, almost]) {
    expect((await send(proxy, stub, messages)).told.reason).toBe('clamped_to_context');
  }
  expect(engine.passes).toHaveLength(1);
  await send(proxy, stub, workedUpTo(3000 + 384 + 50, almost));
  expect(engine.passes).toHaveLength(2);
});

test('a request that has no room in the whole context is tried as soon as it has anything new', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) => messages);
  const proxy = await hosted({ stub, engine });
  const first = dialogue(3, 3700);
  const lastThatFits = workedUpTo(4096 - 256, first);
  for (const messages of [first, lastThatFits]) {
    expect((await send(proxy, stub, messages)).told.reason).toBe('clamped_to_context');
  }
  expect(engine.passes).toHaveLength(1);
  const tooLong = workedUpTo(4096 - 256 + 50, lastThatFits);
  expect((await send(proxy, stub, tooLong)).told.reason).toBe('irreducible');
  expect(engine.passes).toHaveLength(2);
  engine.script = shorten(700);
  const next = await send(proxy, stub, workedUpTo(4096 - 256 + 100, tooLong));
  expect(next.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
});

test('sent once more as it was it is not tried, with a longer system prompt it is', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) => messages);
  const proxy = await hosted({ stub, engine });
  const tooLong = dialogue(3, 3900);
  for (let time = 0; time < 3; time += 1) {
    expect((await send(proxy, stub, tooLong)).told.reason).toBe('irreducible');
  }
  expect(engine.passes).toHaveLength(1);
  const system = { role: 'system', content: 'You help, and you are brief.' };
  for (let time = 0; time < 2; time += 1) await send(proxy, stub, [system, ...tooLong.slice(1)]);
  expect(engine.passes).toHaveLength(2);
});

test('in a large window it has to grow by a twentieth of it', async () => {
  const stub = await countingStub({ window: 65_536 });
  const engine = scriptedEngine((messages) => messages);
  const proxy = await hosted({ stub, engine });
  let messages = dialogue(3, 49_000);
  for (const tokens of [0, 1150, 1150]) {
    messages = goOn(messages, 'x'.repeat(tokens * 4));
    await send(proxy, stub, messages);
  }
  expect(engine.passes).toHaveLength(1);
  await send(proxy, stub, goOn(messages, 'x'.repeat(200 * 4)));
  expect(engine.passes).toHaveLength(2);
});

test('a conversation that stays too long after its passes is not compressed anew with every request', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages, options, self) =>
    engine.passes.length > 3 ? messages : shorten(10)(messages, options, self),
  );
  const proxy = await hosted({ stub, engine });
  let messages = dialogue(3, 3200);
  const first = await send(proxy, stub, messages);
  expect(first.told).toMatchObject({
    action: 'compressed',
    reason: 'clamped_to_context',
    'prompt-tokens': '3170',
  });
  expect(engine.passes).toHaveLength(3);
  for (let turn = 0; turn < 3; turn += 1) {
    messages = goOn(messages);
    expect((await send(proxy, stub, messages)).told.action).toBe('compressed');
  }
  expect(engine.passes).toHaveLength(3);
});

test('after a pass that failed the engine is left alone for a while', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(() => {
    throw new Error('broken');
  });
  const proxy = await hosted({ stub, engine });
  let messages = dialogue(3, 3000);
  for (let turn = 0; turn < 4; turn += 1) {
    expect((await send(proxy, stub, messages)).told.reason).toBe('clamped_to_context');
    messages = goOn(messages);
  }
  expect(engine.passes).toHaveLength(1);
});

test('a message that was too long as the newest one is compressed once another follows it', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) => {
    const last = messages.findLastIndex(({ role }) => role === 'user');
    if (last < 2) throw new IrreducibleError('the newest message alone');
    return [...messages.slice(0, 1), { role: 'user', content: 'summary' }, ...messages.slice(last)];
  });
  const proxy = await hosted({ stub, engine });
  let messages = dialogue(1, 3900);
  expect((await send(proxy, stub, messages)).told.reason).toBe('irreducible');
  expect((await send(proxy, stub, messages)).told.reason).toBe('irreducible');
  expect(engine.passes).toHaveLength(1);
  messages = goOn(messages);
  expect((await send(proxy, stub, messages)).told.reason).toBe('compression_due');
  expect(engine.passes).toHaveLength(2);
});

test('an engine that says it has nothing to compress is not called', async () => {
  class Full extends ScriptedEngine {
    override hasContentToCompress(): boolean {
      return false;
    }
  }
  const stub = await countingStub();
  const engine = scriptedEngine(shorten(1000), Full);
  const proxy = await hosted({ stub, engine });
  const sent = await send(proxy, stub, dialogue(3, 3900));
  expect(sent.told).toMatchObject({ action: 'unchanged', reason: 'irreducible' });
  expect(engine.passes).toHaveLength(0);
});

test('asks an engine that has a rule of its own, from the first request on', async () => {
  const asked: number[] = [];
  class Own extends ScriptedEngine {
    override shouldCompress(pressure: number): boolean {
      asked.push(pressure);
      return pressure > 1000;
    }
  }
  const stub = await countingStub();
  const engine = scriptedEngine(undefined, Own);
  const proxy = await hosted({ stub, engine });
  expect((await send(proxy, stub, dialogue(3, 500, 'short'))).told.reason).toBe('fits');
  expect((await send(proxy, stub, dialogue(3, 1500, 'longer'))).told.reason).toBe('compression_due');
  expect(asked.slice(0, 2)).toEqual([755, 1755]);
  const tooLong = await send(proxy, stub, dialogue(3, LARGEST_THAT_FITS + 1, 'long'));
  expect(tooLong.told.reason).toBe('compression_due');
});
