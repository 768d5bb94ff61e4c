import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { type Script, scriptedEngine, summarise } from '../../support/engine.js';
import { countingStub, dialogue, goOn, hosted, messagesText, SYSTEM, send } from '../../support/hosted.js';
import { json } from '../../support/upstream-stub.js';

/** A turn with two calls and their results before the last question. */
function withCalls(tokens: number): Message[] {
  const calls = ['c1', 'c2'].map((id) => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: '{}' },
  }));
  const talk = dialogue(2, tokens - 100);
  return [
    ...talk.slice(0, -1),
    { role: 'user', content: 'look' },
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'tool', tool_call_id: 'c1', content: 'one' },
    { role: 'tool', tool_call_id: 'c2', content: 'two' },
    { role: 'assistant', content: 'seen' },
    ...talk.slice(-1),
  ];
}

const without =
  (keep: (message: Message) => boolean): Script =>
  (messages) =>
    messages.filter(keep);
const summary = { role: 'user', content: 'summary' };
const first = (messages: Message[]) => messages[0] as Message;
const last = (messages: Message[]) => messages.at(-1) as Message;

const REFUSED: Record<string, Script> = {
  'no list': () => ({ messages: [] }) as unknown as Message[],
  'no value at all': () => undefined as unknown as Message[],
  'an empty list': () => [],
  'a message without a role': (messages) => [first(messages), { content: 'x' } as Message, last(messages)],
  'something that is no message': (messages) => [
    first(messages),
    'summary' as unknown as Message,
    last(messages),
  ],
  'a result whose call is gone (BerriAI/litellm#4931)': without(
    ({ tool_calls: calls }) => calls === undefined,
  ),
  'a call whose result is gone (BerriAI/litellm#10696)': without(
    ({ role, tool_call_id: id, content }) =>
      !(role === 'tool' && id === 'c2') && String(content).length < 1000,
  ),
  'a system message behind the head (vllm-project/vllm#41114)': (messages) => [
    first(messages),
    { role: 'user', content: 'before' },
    { role: 'system', content: 'summary' },
    last(messages),
  ],
  'a developer message behind the head': (messages) => [
    first(messages),
    summary,
    { role: 'developer', content: 'summary' },
    last(messages),
  ],
  'another last question': (messages) => [first(messages), summary, { role: 'user', content: 'other' }],
  'no last question': (messages) => [first(messages), summary],
  'something behind the last question': (messages) => [
    first(messages),
    last(messages),
    { role: 'assistant', content: 'more' },
  ],
  'a BigInt': (messages) => [first(messages), { role: 'user', content: 1n } as Message, last(messages)],
  'a circle': (messages) => {
    const circle: Message = { role: 'user' };
    circle.content = [circle];
    return [first(messages), circle, last(messages)];
  },
  'more than before (NousResearch/hermes-agent#23767)': (messages) => [
    first(messages),
    { role: 'user', content: 'y'.repeat(20_000) },
    last(messages),
  ],
  'the very list that it was given': (messages) => messages,
  'its input, changed behind its back': (messages) => {
    for (const message of messages) message.content = '';
    return messages;
  },
  'an exception': () => {
    throw new Error('broken');
  },
  'a rejection': () => Promise.reject(new Error('broken')),
  'a rejection that is no error': () => Promise.reject(null),
};

describe('sends what the client sent, clamped to the real window, where the engine gives', () => {
  test.each(Object.entries(REFUSED))('%s', async (_name, script) => {
    const stub = await countingStub();
    const engine = scriptedEngine(script);
    const proxy = await hosted({ stub, engine });
    const text = JSON.stringify(withCalls(3000)).replace('"Talk"', '"T\\u0061lk"');
    const sent = await send(proxy, stub, text, { more: { max_tokens: 2000 } });
    expect(engine.passes).toHaveLength(1);
    expect(messagesText(sent.body)).toBe(text.slice(1, -1));
    expect(sent.status).toBe(200);
    const cap = 4096 - Number(sent.told['prompt-tokens']);
    expect(sent.told).toMatchObject({
      action: 'clamped',
      reason: 'clamped_to_context',
      'max-tokens': `${cap}`,
    });
    expect(warnings(proxy.logged)).toHaveLength(1);
  });
});

const warnings = (logged: readonly Record<string, unknown>[]) =>
  logged.filter(({ msg }) => msg === 'compression did not help');

test('says why, and sends the bytes as they are, where the real window has no room either', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(() => {
    throw new Error('broken');
  });
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(3, 3900);
  const failed = await send(proxy, stub, messages);
  expect(failed.told).toMatchObject({ action: 'unchanged', reason: 'compression_failed' });
  expect(failed.messages).toEqual(messages);
  engine.script = (all) => all;
  const stuck = await send(proxy, stub, dialogue(3, 3900, 'other'));
  expect(stuck.told).toMatchObject({ action: 'unchanged', reason: 'irreducible' });
});

test('a member without a value is left out, as in JSON', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) => [
    first(messages),
    { role: 'user', content: 'summary', name: undefined },
    last(messages),
  ]);
  const proxy = await hosted({ stub, engine });
  const sent = await send(proxy, stub, dialogue(3, 3000));
  expect(sent.told.reason).toBe('compression_due');
  expect(sent.messages[1]).toEqual(summary);
});

test('a result that the server’s own template refuses is dropped (vllm-project/vllm#6862)', async () => {
  const strict = (request: { body: Buffer }, response: Parameters<typeof json>[0]) => {
    const { messages } = JSON.parse(request.body.toString()) as { messages: Message[] };
    const isAlternating = messages.every(({ role }, i) => i === 0 || role !== messages[i - 1]?.role);
    if (!isAlternating) return json(response, 400, { message: 'roles must alternate', code: 400 });
    return json(response, 200, {
      count: Math.ceil(JSON.stringify(messages).length / 4),
      max_model_len: 4096,
      tokens: [],
    });
  };
  const stub = await countingStub({ routes: { 'POST /tokenize': strict } });
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(3, 3000);
  const sent = await send(proxy, stub, messages, { more: { max_tokens: 2000 } });
  expect(engine.passes).toHaveLength(1);
  expect(sent.messages).toEqual(messages);
  expect(sent.told).toMatchObject({ action: 'clamped', reason: 'clamped_to_context' });
});

test('falls back to the last good checkpoint, not to all that the client sent', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(3, 3000);
  const good = await send(proxy, stub, messages);
  engine.script = () => [];
  const longer = goOn(messages, 'z'.repeat(11_600));
  const sent = await send(proxy, stub, longer);
  expect(engine.passes).toHaveLength(2);
  expect(sent.told).toMatchObject({ action: 'compressed', reason: 'clamped_to_context' });
  expect(messagesText(sent.body).startsWith(messagesText(good.body))).toBe(true);
});

test('the leading instructions are the client’s own whatever the engine makes of them, with one warning', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages, options, self) => {
    const made = summarise(messages, options, self) as Message[];
    return [{ role: 'system', content: 'Mine now.' }, ...made.slice(1)];
  });
  const proxy = await hosted({ stub, engine });
  for (const name of ['one', 'two']) {
    const sent = await send(proxy, stub, dialogue(3, 3000, name));
    expect(sent.told.reason).toBe('compression_due');
    expect(sent.messages[0]).toEqual(SYSTEM);
  }
  expect(proxy.logged.filter(({ code }) => code === 'head_changed')).toHaveLength(1);
});
