import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { type Script, scriptedEngine, summarise } from '../support/engine.js';
import { countingStub, dialogue, hosted, until } from '../support/hosted.js';
import { postChat, type TestProxy, told } from '../support/proxy.js';
import { CHAT, json, type StubOptions, type StubRoute, sse } from '../support/upstream-stub.js';

const TIMES = { graceMs: 100, everyMs: 100 };
const LONG = dialogue(4, 2900);
const STREAM = JSON.stringify({ model: 'm', stream: true, max_tokens: 1000, messages: LONG });
const WHOLE = JSON.stringify({ model: 'm', max_tokens: 1000, messages: LONG });

/** A pass that takes a while. */
function slow(ms = 350): Script {
  return async (messages, options, engine) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return await summarise(messages, options, engine);
  };
}

const SAYS: StubRoute = (_request, response) =>
  sse(response, [
    { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Hello' } }] },
    { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]);

async function start(chat: StubRoute = SAYS, script = slow(), more: StubOptions['routes'] = {}) {
  const stub = await countingStub({ routes: { [`POST ${CHAT}`]: chat, ...more } });
  const engine = scriptedEngine(script);
  const proxy = await hosted({ engine, stub, waitingTimes: TIMES });
  return { stub, engine, proxy };
}

function client(proxy: TestProxy): OpenAI {
  return new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: 'client-key', maxRetries: 0 });
}

function stream(proxy: TestProxy) {
  return client(proxy).chat.completions.create({
    model: 'm',
    stream: true,
    max_tokens: 1000,
    messages: LONG as OpenAI.ChatCompletionMessageParam[],
  });
}

/** The comments of an event stream, and the rest of it. */
function parted(text: string): { readonly comments: string[]; readonly data: string } {
  const blocks = text.split('\n\n').filter((block) => block !== '');
  const comments = blocks.filter((block) => block.startsWith(': '));
  const data = blocks.filter((block) => !block.startsWith(': ')).join('\n\n');
  return { comments, data };
}

const refuses =
  (status: number, body: unknown): StubRoute =>
  (_request, response) =>
    json(response, status, body);

test('tells a streaming client that its conversation is compressed, again and again, and then the outcome', async () => {
  const { proxy } = await start();
  const response = await postChat(proxy.url, STREAM);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(told(response)).toEqual({ action: 'pending' });
  const { comments, data } = parted(await response.text());
  expect(comments.length).toBeGreaterThanOrEqual(3);
  expect(new Set(comments.slice(0, -1))).toEqual(new Set([': incontext compressing']));
  expect(comments.at(-1)).toMatch(/^: incontext action=compressed reason=compression_due prompt-tokens=\d+$/);
  expect(data).toMatch(/^data: .*Hello[\s\S]*data: \[DONE\]$/);
});

test('puts the outcome before the first data', async () => {
  const { proxy } = await start();
  const text = await (await postChat(proxy.url, STREAM)).text();
  expect(text.indexOf('action=compressed')).toBeLessThan(text.indexOf('data:'));
  expect(text.lastIndexOf('compressing')).toBeLessThan(text.indexOf('action=compressed'));
});

test('says nothing where the compression is quick: the head is the answer’s own', async () => {
  const { proxy } = await start(SAYS, summarise);
  const response = await postChat(proxy.url, STREAM);
  expect(told(response)).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(parted(await response.text()).comments).toEqual([]);
});

test('lets a client without a stream just wait', async () => {
  const { proxy } = await start(refuses(200, { ok: true }));
  const response = await postChat(proxy.url, WHOLE);
  expect(told(response)).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(await response.text()).toBe('{"ok":true}');
});

test('the official client reads such a stream', async () => {
  const { proxy } = await start();
  let text = '';
  for await (const chunk of await stream(proxy)) text += chunk.choices[0]?.delta.content ?? '';
  expect(text).toBe('Hello');
});

const ERRORS: [string, StubRoute, object][] = [
  [
    'the upstream’s own error',
    refuses(422, { error: { message: 'no such thing', type: 'BadRequestError', param: 'tools', code: 422 } }),
    { message: 'no such thing', type: 'BadRequestError', param: 'tools', code: 422 },
  ],
  [
    'an older vLLM’s error',
    refuses(400, { object: 'error', message: 'too odd', type: 'BadRequestError', param: null, code: 400 }),
    { message: 'too odd', type: 'BadRequestError', param: null, code: 400 },
  ],
  [
    'an error that tells little',
    refuses(500, { detail: 'broken' }),
    { message: 'broken', type: 'upstream_error', param: null, code: 500 },
  ],
  [
    'a page for people',
    (_request, response) => response.writeHead(503).end('<html>'),
    { message: 'the upstream answered 503', type: 'upstream_error', param: null, code: 503 },
  ],
  [
    'no answer',
    (_request, response) => response.destroy(),
    { type: 'api_error', param: null, code: 'upstream_reset' },
  ],
];

test.each(ERRORS)('gives %s within the stream once its head has gone', async (_what, chat, error) => {
  const { proxy } = await start(chat);
  const response = await postChat(proxy.url, STREAM);
  expect(response.status).toBe(200);
  const { data } = parted(await response.text());
  const [first = '', end] = data.split('\n\n');
  expect(JSON.parse(first.replace(/^data: /, ''))).toMatchObject({ error });
  expect(end).toBe('data: [DONE]');
});

test('the official client throws at an error within the stream', async () => {
  const { proxy } = await start(ERRORS[0]?.[1]);
  const read = async () => {
    for await (const _ of await stream(proxy));
  };
  const error = await read().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OpenAI.APIError);
  expect(error).toMatchObject({ code: 422, param: 'tools', error: { message: 'no such thing' } });
});

test('gives an error within the stream where the upstream is gone by then', async () => {
  const { proxy, stub, engine } = await start();
  engine.script = async (...given) => {
    const made = await slow()(...given);
    stub.set({ routes: { '*': (_request, response) => response.destroy() } });
    return made;
  };
  const { data } = parted(await (await postChat(proxy.url, STREAM)).text());
  expect(data).toContain('"code":"upstream_reset"');
});

test.each([401, 403])('gives a wrong key its %d, however long the compression takes', async (status) => {
  const no = refuses(status, { error: { message: 'no', type: 'x', param: null, code: status } });
  const models: StubRoute = (request, response) =>
    request.headers.authorization === 'Bearer wrong-key'
      ? no(request, response)
      : json(response, 200, { object: 'list', data: [{ id: 'm', max_model_len: 4096 }] });
  const { proxy, stub } = await start(no, slow(), { 'GET /v1/models': models });
  const response = await postChat(proxy.url, STREAM, { authorization: 'Bearer wrong-key' });
  expect(response.status).toBe(status);
  const asked = stub.at('/v1/models').filter(({ headers }) => headers.authorization === 'Bearer wrong-key');
  expect(asked).toHaveLength(1);
});

test('asks about a key once, and remembers that it is right', async () => {
  const { proxy, stub } = await start();
  for (const name of ['one', 'two']) {
    const body = JSON.stringify({ model: 'm', stream: true, messages: dialogue(4, 2900, name) });
    const response = await postChat(proxy.url, body, { authorization: 'Bearer right-key' });
    expect(told(response)).toEqual({ action: 'pending' });
    await response.text();
  }
  const asked = stub.at('/v1/models').filter(({ headers }) => headers.authorization === 'Bearer right-key');
  expect(asked).toHaveLength(1);
});

test('aborts the pass when the client goes while it waits', async () => {
  const { proxy, engine, stub } = await start(SAYS, () => new Promise(() => {}));
  const gone = new AbortController();
  const response = await postChat(proxy.url, STREAM, {}, { signal: gone.signal });
  expect(told(response)).toEqual({ action: 'pending' });
  gone.abort();
  await until(() => engine.passes[0]?.options.signal?.aborted === true);
  await until(() => proxy.logged.some(({ outcome }) => outcome === 'client_abort'));
  expect(stub.at(CHAT)).toEqual([]);
});

test('tells a client that waits for the second try after a refusal for overflow', async () => {
  let refusals = 0;
  const message =
    "This model's maximum context length is 4096 tokens. However, you requested 1000 output tokens and your prompt contains at least 3097 input tokens, for a total of at least 4097 tokens. Please reduce the length of the input prompt or the number of requested output tokens.";
  const { proxy, stub } = await start((request, response) => {
    if (refusals > 0) return SAYS(request, response);
    refusals += 1;
    stub.set({ count: (body) => (JSON.stringify(body).length > 4000 ? 4000 : 500) });
    return json(response, 400, { error: { message, type: 'BadRequestError', param: null, code: 400 } });
  });
  const body = JSON.stringify({ model: 'm', stream: true, max_tokens: 1000, messages: dialogue(4, 2000) });
  const response = await postChat(proxy.url, body);
  expect(told(response)).toEqual({ action: 'pending' });
  const { comments, data } = parted(await response.text());
  expect(comments.at(-1)).toMatch(/action=compressed/);
  expect(data).toContain('Hello');
});
