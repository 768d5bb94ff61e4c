import { afterEach, expect, test, vi } from 'vitest';
import type { Message, Usage } from '../../../src/conversation/message.js';
import { ScriptedEngine, scriptedEngine } from '../../support/engine.js';
import { countingStub, dialogue, goOn, hosted, send, until } from '../../support/hosted.js';
import { postChat } from '../../support/proxy.js';
import { CHAT, json, type StubRoute, sse } from '../../support/upstream-stub.js';

interface Turn {
  readonly messages: Message[];
  readonly usage: Usage | undefined;
}

/** An engine that notes what it is told. */
function observing() {
  const turns: Turn[] = [];
  const usages: Usage[] = [];
  class Observing extends ScriptedEngine {
    override onTurnComplete(messages: Message[], usage?: Usage): void {
      turns.push({ messages, usage });
    }
    override updateFromResponse(usage: Usage): void {
      super.updateFromResponse(usage);
      usages.push(usage);
    }
  }
  return { engine: scriptedEngine(undefined, Observing), turns, usages };
}

const TALK = dialogue(2, 100);
const USAGE = { prompt_tokens: 77, completion_tokens: 3, total_tokens: 80, prompt_tokens_details: null };

function answering(route: StubRoute) {
  return countingStub({ routes: { [`POST ${CHAT}`]: route } });
}

function chunk(delta: object, finish: string | null = null, index = 0) {
  return { id: 'c', object: 'chat.completion.chunk', choices: [{ index, delta, finish_reason: finish }] };
}

function completion(message: object, finish: string, more: object = { usage: USAGE }) {
  return {
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: finish }],
    ...more,
  };
}

const CALLS = [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }];

afterEach(() => vi.restoreAllMocks());

test('tells the engine of a finished turn: the transcript with the final message, and its usage', async () => {
  const { engine, turns, usages } = observing();
  const stub = await answering((_request, response) =>
    json(response, 200, completion({ role: 'assistant', content: 'It is so.' }, 'stop')),
  );
  const proxy = await hosted({ engine, stub });
  await send(proxy, stub, TALK);
  await until(() => turns.length === 1);
  const { messages, usage } = turns[0] as Turn;
  expect(messages.map(({ role, content }) => ({ role, content }))).toEqual([
    ...TALK,
    { role: 'assistant', content: 'It is so.' },
  ]);
  expect(messages[1]?.message_uid).toMatch(/^[0-9a-f]{32}$/);
  expect(usage).toEqual(USAGE);
  expect(usages).toEqual([USAGE]);
});

test('tells the engine of a streamed turn, of the first choice only', async () => {
  const { engine, turns, usages } = observing();
  const stub = await answering((_request, response) =>
    sse(response, [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'It is' }),
      chunk({ content: 'No.' }, null, 1),
      chunk({ content: ' so.' }, 'stop'),
      { id: 'c', object: 'chat.completion.chunk', choices: [], usage: USAGE },
    ]),
  );
  const proxy = await hosted({ engine, stub });
  await send(proxy, stub, TALK, { more: { stream: true, stream_options: { include_usage: true } } });
  await until(() => turns.length === 1);
  expect(turns[0]?.messages.at(-1)).toEqual({ role: 'assistant', content: 'It is so.' });
  expect(usages).toEqual([USAGE]);
});

test('tells the engine of a streamed turn whose client goes at its last event', async () => {
  const { engine, turns, usages } = observing();
  const stub = await answering((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const last = { ...chunk({ content: 'It is so.' }, 'stop'), usage: USAGE };
    response.write(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
  });
  const proxy = await hosted({ engine, stub });
  const leave = new AbortController();
  const body = JSON.stringify({ model: 'm', messages: TALK, stream: true });
  const answer = await postChat(proxy.url, body, {}, { signal: leave.signal });
  const reader = answer.body?.getReader();
  for (let read = ''; !read.includes('[DONE]'); ) read += Buffer.from((await reader?.read())?.value ?? []);
  leave.abort();
  await until(() => turns.length === 1);
  expect(turns[0]?.messages.at(-1)).toEqual({ role: 'assistant', content: 'It is so.' });
  expect(usages).toEqual([USAGE]);
});

test('gives P and the tokens that were streamed where a stream reports no usage', async () => {
  const { engine, usages } = observing();
  const words = ['one ', 'two ', 'three ', 'four'];
  const stub = await answering((_request, response) =>
    sse(response, [
      chunk({ role: 'assistant' }),
      ...words.map((content) => chunk({ content })),
      chunk({}, 'stop'),
    ]),
  );
  const proxy = await hosted({ engine, stub });
  const { told } = await send(proxy, stub, TALK, { more: { stream: true } });
  await until(() => usages.length === 1);
  const prompt = Number(told['prompt-tokens']);
  expect(usages[0]).toEqual({ prompt_tokens: prompt, completion_tokens: 4, total_tokens: prompt + 4 });
});

test.each<[string, object, boolean]>([
  ['whole', completion({ role: 'assistant', content: null, tool_calls: CALLS }, 'tool_calls'), false],
  ['streamed', chunk({ tool_calls: CALLS }, 'tool_calls'), true],
])('does not take a %s tool call for the end of a turn, but for an answer', async (_form, answer, stream) => {
  const { engine, turns, usages } = observing();
  const stub = await answering((_request, response) =>
    stream ? sse(response, [answer, { choices: [], usage: USAGE }]) : json(response, 200, answer),
  );
  const proxy = await hosted({ engine, stub });
  await send(proxy, stub, TALK, { more: { stream } });
  await until(() => usages.length === 1);
  expect(usages).toEqual([USAGE]);
  expect(turns).toEqual([]);
});

test('tells nothing of an answer that is an error', async () => {
  const { engine, turns, usages } = observing();
  const stub = await answering((_request, response) => json(response, 500, { error: { message: 'no' } }));
  const proxy = await hosted({ engine, stub });
  expect((await send(proxy, stub, TALK)).status).toBe(500);
  stub.set({ routes: {} });
  await send(proxy, stub, goOn(TALK));
  await until(() => turns.length === 1);
  expect(usages).toHaveLength(1);
});

test('tells the engine of one turn before it asks it about the next', async () => {
  const order: string[] = [];
  class Slow extends ScriptedEngine {
    override async onTurnComplete(): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, 100));
      order.push('told');
    }
    override selectContext(): undefined {
      order.push('asked');
    }
  }
  const stub = await countingStub();
  const proxy = await hosted({ engine: scriptedEngine(undefined, Slow), stub });
  await send(proxy, stub, TALK);
  await send(proxy, stub, goOn(TALK));
  expect(order).toEqual(['asked', 'told', 'asked']);
});

test('neither delays nor fails a request where the engine throws at an answer, or never comes back', async () => {
  class Failing extends ScriptedEngine {
    override updateFromResponse(): void {
      throw new Error('secret words');
    }
    override onTurnComplete(): Promise<void> {
      return new Promise(() => {});
    }
  }
  const stub = await countingStub();
  const proxy = await hosted({
    engine: scriptedEngine(undefined, Failing),
    stub,
    hostLimits: { observerMs: 50 },
  });
  expect((await send(proxy, stub, TALK)).status).toBe(200);
  expect((await send(proxy, stub, goOn(TALK))).status).toBe(200);
  const failed = () => proxy.logged.map(({ hook, type }) => `${hook} ${type}`);
  await until(() => failed().includes('onTurnComplete HookTimeoutError'));
  expect(failed()).toContain('updateFromResponse Error');
  expect(JSON.stringify(proxy.logged)).not.toContain('secret');
});

test('copies no message for an engine without hooks, and makes it only when something is due', async () => {
  const copies = vi.spyOn(JSON, 'parse');
  const engine = scriptedEngine();
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub });
  copies.mockClear();
  const talk = dialogue(2, 100, 'unmistakable');
  const { told } = await send(proxy, stub, talk);
  await send(proxy, stub, goOn(talk));
  const parsed = copies.mock.calls.map(([text]) => String(text));
  // The stub and this test parse whole bodies; nobody parses a message.
  expect(parsed.filter((text) => /^\{"role":/.test(text))).toEqual([]);
  expect(engine.instances).toEqual([]);
  expect(told.conversation).toBeUndefined();
});
