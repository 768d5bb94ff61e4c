import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { ScriptedEngine, scriptedEngine } from '../../support/engine.js';
import {
  countingStub,
  dialogue,
  goOn,
  hosted,
  messagesText,
  SYSTEM,
  send,
  tokensOf,
} from '../../support/hosted.js';

const call = (id: string) => ({ id, type: 'function', function: { name: 'read', arguments: '{"a": 1.0}' } });
const question = { role: 'user', content: 'read them' };
const asked = (...ids: string[]) => ({ role: 'assistant', content: null, tool_calls: ids.map(call) });
const result = (id: string, tokens: number) => ({
  role: 'tool',
  tool_call_id: id,
  content: 'r'.repeat(tokens * 4),
});

test('a last turn that is too big alone may lose its results, its question stays', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) =>
    messages.map((one) => (one.role === 'tool' ? { ...one, content: 'cut' } : one)),
  );
  const proxy = await hosted({ stub, engine });
  const messages = [SYSTEM, question, asked('a', 'b'), result('a', 1500), result('b', 1500)];
  const sent = await send(proxy, stub, messages);
  expect(sent.told.reason).toBe('compression_due');
  expect(sent.messages).toEqual([
    SYSTEM,
    question,
    asked('a', 'b'),
    { role: 'tool', tool_call_id: 'a', content: 'cut' },
    { role: 'tool', tool_call_id: 'b', content: 'cut' },
  ]);
  const next = await send(proxy, stub, goOn(messages));
  expect(messagesText(next.body)).toBe(
    `${messagesText(sent.body)},${goOn([])
      .map((one) => JSON.stringify(one))
      .join(',')}`,
  );
  expect(engine.passes).toHaveLength(1);
});

test('a last turn that fits may not lose any', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) =>
    messages.map((one) => (one.role === 'tool' ? { ...one, content: 'cut' } : one)),
  );
  const proxy = await hosted({ stub, engine });
  const messages = [
    ...dialogue(2, 2700).slice(0, -1),
    question,
    asked('a', 'b'),
    result('a', 100),
    result('b', 100),
  ];
  const sent = await send(proxy, stub, messages);
  expect(engine.passes).toHaveLength(1);
  expect(sent.messages).toEqual(messages);
  expect(sent.told.reason).toBe('clamped_to_context');
});

test('the results of the turn that is going on keep their bytes, and their calls', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const tail = [question, asked('a', 'b'), result('b', 10), result('a', 10)];
  const messages = [...dialogue(3, 3000), { role: 'assistant', content: 'well' }, ...tail];
  const sent = await send(proxy, stub, messages);
  expect(sent.told.reason).toBe('compression_due');
  const kept = tail.map((one) => JSON.stringify(one)).join(',');
  expect(messagesText(sent.body).endsWith(kept)).toBe(true);
  expect(engine.passes[0]?.messages.at(-1)?._tool_call_uid).toMatch(/^[0-9a-f]{32}$/);
});

test('an answer that the client began itself stays at the end (continue_final_message)', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const begun = { role: 'assistant', content: 'The answer is' };
  const messages = [...dialogue(3, 3000), begun];
  const more = { continue_final_message: true, add_generation_prompt: false };
  const sent = await send(proxy, stub, messages, { more });
  expect(sent.told.reason).toBe('compression_due');
  expect(sent.messages.at(-1)).toEqual(begun);
});

test('a client’s own system message in the middle is its own affair (vllm-project/vllm#41114)', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) => [
    SYSTEM,
    { role: 'user', content: 'summary' },
    ...messages.slice(4),
  ]);
  const proxy = await hosted({ stub, engine });
  const messages = [
    ...dialogue(2, 3000).slice(0, 3),
    { role: 'user', content: 'x' },
    { role: 'system', content: 'late' },
  ];
  const sent = await send(proxy, stub, [...messages, question]);
  expect(sent.told.reason).toBe('compression_due');
  expect(sent.messages.slice(2)).toEqual([{ role: 'system', content: 'late' }, question]);
});

test('a pass works on the whole conversation, whatever was selected for the request', async () => {
  class Selecting extends ScriptedEngine {
    override selectContext(messages: Message[]): Message[] {
      return messages.filter(({ content }) => content !== 'q'.repeat(2000));
    }
  }
  const stub = await countingStub();
  const engine = scriptedEngine(undefined, Selecting);
  const proxy = await hosted({ stub, engine });
  const messages = goOn(goOn(dialogue(2, 2900), 'q'.repeat(2000)), 'last');
  const sent = await send(proxy, stub, messages);
  expect(engine.passes[0]?.options.currentTokens).toBe(tokensOf(messages));
  expect(engine.passes[0]?.messages).toHaveLength(messages.length);
  expect(sent.told).toMatchObject({
    reason: 'compression_due',
    'original-prompt-tokens': `${tokensOf(messages)}`,
  });
});
