import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { IrreducibleError, type SelectContext } from '../../../src/engines/contract.js';
import { ScriptedEngine, scriptedEngine } from '../../support/engine.js';
import { countingStub, dialogue, folder, goOn, hosted, send, tokensOf } from '../../support/hosted.js';
import { CHAT, json } from '../../support/upstream-stub.js';

type Choose = (messages: Message[], context: SelectContext) => unknown;

/** An engine that selects as its test says. */
function selecting(choose: Choose) {
  const calls: { messages: Message[]; context: SelectContext }[] = [];
  class Selecting extends ScriptedEngine {
    override selectContext(messages: Message[], context: SelectContext): Message[] {
      calls.push({ messages: structuredClone(messages), context: structuredClone(context) });
      return choose(messages, context) as Message[];
    }
  }
  return { engine: scriptedEngine(undefined, Selecting), calls };
}

const TALK = dialogue(3, 200);

test('sends what the engine selects for this one request, and leaves the conversation as it is', async () => {
  let only = true;
  const { engine, calls } = selecting((messages) =>
    only
      ? [messages[0], { role: 'user', content: 'found in the archive' }, ...messages.slice(-1)]
      : undefined,
  );
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub });
  const selected = await send(proxy, stub, TALK);
  expect(selected.messages).toEqual([
    TALK[0],
    { role: 'user', content: 'found in the archive' },
    TALK.at(-1),
  ]);
  expect(selected.told['prompt-tokens']).toBe(String(tokensOf(selected.messages)));
  expect(calls[0]?.messages).toHaveLength(TALK.length);
  expect(calls[0]?.context).toMatchObject({ incomingMessage: TALK.at(-1), budgetTokens: 3072 });
  expect(calls[0]?.context.conversationMessages).toEqual(calls[0]?.messages);
  only = false;
  const next = goOn(TALK);
  expect((await send(proxy, stub, next)).messages).toEqual(next);
  expect(calls[1]?.messages).toHaveLength(next.length);
});

test('lets a selection change the system prompt of its request', async () => {
  const { engine } = selecting((messages) => [
    { role: 'system', content: 'You judge.' },
    ...messages.slice(1),
  ]);
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub });
  const { messages } = await send(proxy, stub, TALK);
  expect(messages).toEqual([{ role: 'system', content: 'You judge.' }, ...TALK.slice(1)]);
});

test('keeps the bytes of messages that were selected, and sends no bookkeeping', async () => {
  const odd = String.raw`{"role":"user", "content":"1.0 \u00e9", "seed":12345678901234567890}`;
  const { engine } = selecting((messages) => messages.toReversed().slice(0, 1));
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub });
  const { body } = await send(
    proxy,
    stub,
    `[{"role":"user","content":"a"},{"role":"assistant","content":"b"},${odd}]`,
  );
  expect(body.toString()).toContain(`{"messages":[${odd}],`);
});

test.each<[string, Choose]>([
  ['undefined', () => undefined],
  ['null', () => null],
  ['an empty list', () => []],
  ['a text', () => 'messages'],
  ['a list of texts', () => ['a']],
  ['an answer to no call', (messages) => [...messages, { role: 'tool', tool_call_id: 'x', content: 'y' }]],
  ['what is no JSON', (messages) => [...messages, { role: 'user', content: 1n }]],
  [
    'an exception',
    () => {
      throw new Error('secret words');
    },
  ],
])('sends the untouched bytes where selectContext gives %s', async (_what, choose) => {
  const { engine, calls } = selecting((messages, context) => choose(messages, context));
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub });
  const raw = '[ {"role":"user",  "content":"q 1.0"} ]';
  const { body } = await send(proxy, stub, raw);
  expect(body.toString()).toBe(`{"messages":${raw},"model":"m","max_tokens":1000}`);
  expect(calls).toHaveLength(1);
  expect(JSON.stringify(proxy.logged)).not.toContain('secret');
});

test('does not see what an engine does to the lists that it was given', async () => {
  const { engine } = selecting((messages, { conversationMessages, incomingMessage }) => {
    messages.length = 0;
    (conversationMessages as Message[])[0] = { role: 'user', content: 'spoiled' };
    Object.assign(incomingMessage as Message, { content: 'spoiled' });
    return undefined;
  });
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub });
  expect((await send(proxy, stub, TALK)).messages).toEqual(TALK);
});

test('asks again after a pass, with what it made', async () => {
  const { engine, calls } = selecting(() => undefined);
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub });
  const { told, messages } = await send(proxy, stub, dialogue(3, 2900));
  expect(told.reason).toBe('compression_due');
  expect(calls).toHaveLength(2);
  const plain = calls[1]?.messages.map(({ role, content }) => ({ role, content }));
  expect(plain).toEqual(messages);
});

test('never compresses a selection, and makes no checkpoint of it', async () => {
  const { engine } = selecting((messages) => messages.slice(-1));
  engine.script = () => {
    throw new IrreducibleError();
  };
  const stub = await countingStub();
  const data = folder();
  const proxy = await hosted({ engine, stub, data });
  const first = await send(proxy, stub, dialogue(3, 2900));
  expect(first.messages).toHaveLength(1);
  expect(engine.passes).toEqual([]);
});

test('asks again for the second try after a refusal for overflow', async () => {
  const { engine, calls } = selecting(() => undefined);
  let refused = false;
  const stub = await countingStub();
  stub.set({
    routes: {
      [`POST ${CHAT}`]: (_request, response) => {
        if (refused) return json(response, 200, { ok: true });
        refused = true;
        stub.set({ window: 1024 });
        const message =
          "This model's maximum context length is 1024 tokens. However, you requested 1000 output tokens and your prompt contains at least 25 input tokens, for a total of at least 1025 tokens. Please reduce the length of the input prompt or the number of requested output tokens.";
        return json(response, 400, { error: { message, type: 'BadRequestError', param: null, code: 400 } });
      },
    },
  });
  const proxy = await hosted({ engine, stub });
  const { told } = await send(proxy, stub, dialogue(3, 400));
  expect(told.reason).toBe('overflow_recovered');
  expect(calls).toHaveLength(2);
});

test('waits for a selection no longer than its deadline, and then leaves the engine in peace', async () => {
  const { engine, calls } = selecting(() => new Promise(() => {}));
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub, hostLimits: { hookMs: 100 } });
  expect((await send(proxy, stub, TALK)).messages).toEqual(TALK);
  expect((await send(proxy, stub, goOn(TALK))).messages).toEqual(goOn(TALK));
  expect(calls).toHaveLength(1);
  expect(proxy.logged).toContainEqual(
    expect.objectContaining({ hook: 'selectContext', type: 'HookTimeoutError' }),
  );
});
