import { afterEach, describe, expect, test } from 'vitest';
import { postChat, startProxy, type TestProxy, told } from '../support/proxy.js';
import { CHAT, json, type Received, startStub, type UpstreamStub } from '../support/upstream-stub.js';

let stub: UpstreamStub;
let proxy: TestProxy;

afterEach(async () => {
  await proxy.close();
  await stub.close();
});

const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }], max_tokens: 4000 });

/** How generations of vLLM refuse a request that does not fit (vLLM 0.9 to 0.33). */
const WORDINGS = [
  "This model's maximum context length is 4096 tokens. However, you requested 7096 tokens (3096 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
  "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request has 3096 input tokens (4000 > 4096 - 3096).",
  "You passed 3096 input tokens and requested 4000 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 96 tokens. Please reduce the length of the input prompt.",
  "This model's maximum context length is 4096 tokens. However, you requested 4000 output tokens and your prompt contains at least 97 input tokens, for a total of at least 4097 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
  'max_tokens=4000 cannot be greater than max_model_len=3500. Please request fewer output tokens. (parameter=max_tokens, value=4000)',
];

/** A tokenizer that is down for the first count and back for the next: the estimate is far too low. */
function downOnce(count: number) {
  let calls = 0;
  return (_request: Received, response: Parameters<typeof json>[0]) => {
    calls += 1;
    if (calls === 1) json(response, 503, {});
    else json(response, 200, { count, max_model_len: 4096, tokens: [] });
  };
}

function refusesOnce(message: string) {
  let refused = false;
  return (_request: Received, response: Parameters<typeof json>[0]) => {
    if (refused) return json(response, 200, { ok: true });
    refused = true;
    return json(response, 400, { error: { message, type: 'BadRequestError', param: null, code: 400 } });
  };
}

describe('tries once more from a fresh exact count when the upstream refuses with', () => {
  test.each(WORDINGS)('%s', async (wording) => {
    stub = await startStub({
      routes: { 'POST /tokenize': downOnce(3096), [`POST ${CHAT}`]: refusesOnce(wording) },
    });
    proxy = await startProxy({ upstream: stub.url, 'context-length': '4096' });
    const response = await postChat(proxy.url, BODY);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ok: true });
    expect(told(response)).toMatchObject({
      action: 'clamped',
      reason: 'overflow_recovered',
      source: 'vllm-tokenize',
      'prompt-tokens': '3096',
      'max-tokens': '1000',
    });
    expect(stub.at(CHAT)).toHaveLength(2);
    expect(stub.at(CHAT)[1]?.body.toString()).toBe(BODY.replace('4000', '1000'));
  });
});

test('never computes with the number in the refusal, which is a bound (NousResearch/hermes-agent#58869)', async () => {
  const bound = `This model's maximum context length is 4096 tokens. However, you requested 4000 output tokens and your prompt contains at least 2049 input tokens, for a total of at least 6049 tokens.`;
  stub = await startStub({
    routes: { 'POST /tokenize': downOnce(3600), [`POST ${CHAT}`]: refusesOnce(bound) },
  });
  proxy = await startProxy({ upstream: stub.url });
  expect(told(await postChat(proxy.url, BODY))).toMatchObject({
    'max-tokens': '496',
    'prompt-tokens': '3600',
  });
});

test('recovers when the upstream restarted with a smaller context than the cached count knows', async () => {
  stub = await startStub({ window: 8192, count: 3000 });
  proxy = await startProxy({ upstream: stub.url });
  await proxy.ready();
  await postChat(proxy.url, BODY);
  stub.set({ window: 4096 });
  const response = await postChat(proxy.url, BODY);
  expect(response.status).toBe(200);
  expect(told(response)).toMatchObject({
    reason: 'overflow_recovered',
    'context-length': '4096',
    'max-tokens': '1096',
  });
});

test('recovers a streaming request, whose refusal comes before the stream', async () => {
  stub = await startStub({ window: 8192, count: 3000 });
  proxy = await startProxy({ upstream: stub.url });
  await proxy.ready();
  const body = BODY.replace('{', '{"stream":true,');
  await (await postChat(proxy.url, body)).text();
  stub.set({ window: 4096 });
  const response = await postChat(proxy.url, body);
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(await response.text()).toContain('[DONE]');
  expect(told(response)).toMatchObject({ reason: 'overflow_recovered' });
});

const OVERFLOW = { error: { message: WORDINGS[3], type: 'BadRequestError', param: null, code: 400 } };

test('passes the refusal on, byte for byte, where a fresh count gives the same request', async () => {
  stub = await startStub({
    count: 96,
    routes: { [`POST ${CHAT}`]: (_request, response) => json(response, 400, OVERFLOW) },
  });
  proxy = await startProxy({ upstream: stub.url });
  const response = await postChat(proxy.url, BODY);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual(OVERFLOW);
  expect(told(response)).toMatchObject({ reason: 'fits' });
  expect(stub.at(CHAT)).toHaveLength(1);
});

test("tries once, not twice: the second refusal is the client's", async () => {
  stub = await startStub({
    routes: {
      'POST /tokenize': downOnce(3000),
      [`POST ${CHAT}`]: (_request, response) => json(response, 400, OVERFLOW),
    },
  });
  proxy = await startProxy({ upstream: stub.url });
  const response = await postChat(proxy.url, BODY);
  expect(response.status).toBe(400);
  expect(told(response)).toMatchObject({ reason: 'cap_lowered', 'max-tokens': '1096' });
  expect(stub.at(CHAT)).toHaveLength(2);
});

test.each([
  ['another 400', 400, { error: { message: 'temperature must be non-negative', code: 400 } }],
  ['an overload', 503, OVERFLOW],
  ['a rate limit', 429, { error: { message: 'slow down' } }],
  ['a 400 that is no JSON', 400, undefined],
])('does not try again after %s', async (_what, status, body) => {
  stub = await startStub({
    count: 3000,
    routes: {
      [`POST ${CHAT}`]: (_request, response) =>
        body === undefined
          ? response.writeHead(status).end('maximum context length')
          : json(response, status, body),
    },
  });
  proxy = await startProxy({ upstream: stub.url });
  const response = await postChat(proxy.url, BODY);
  expect(response.status).toBe(status);
  if (body !== undefined) expect(await response.json()).toEqual(body);
  expect(stub.at(CHAT)).toHaveLength(1);
});

test('lets a long error through without holding it whole', async () => {
  const long = 'x'.repeat(1_000_000);
  stub = await startStub({
    count: 3000,
    routes: { [`POST ${CHAT}`]: (_request, response) => response.writeHead(400).end(long) },
  });
  proxy = await startProxy({ upstream: stub.url });
  const response = await postChat(proxy.url, BODY);
  expect(response.status).toBe(400);
  expect(await response.text()).toBe(long);
});

test("clamps to the real window after a refusal where the operator's window has no room", async () => {
  let calls = 0;
  stub = await startStub({
    routes: {
      'POST /tokenize': (_request, response) => {
        calls += 1;
        if (calls === 1) json(response, 503, {});
        else json(response, 200, { count: 3000, max_model_len: 4096, tokens: [] });
      },
      [`POST ${CHAT}`]: refusesOnce(WORDINGS[0] as string),
    },
  });
  proxy = await startProxy({ upstream: stub.url, 'compression-window-tokens': '2000' });
  const response = await postChat(proxy.url, BODY);
  expect(response.status).toBe(200);
  expect(told(response)).toMatchObject({
    reason: 'overflow_recovered',
    'max-tokens': '1096',
    window: '4096',
  });
});

test('passes on what came of a refusal that broke off, then cuts', async () => {
  stub = await startStub({
    count: 3000,
    routes: {
      [`POST ${CHAT}`]: (_request, response) => {
        response.writeHead(400, { 'content-type': 'application/json', 'content-length': 200 });
        response.write('{"error"');
        setTimeout(() => response.destroy(), 20);
      },
    },
  });
  proxy = await startProxy({ upstream: stub.url });
  const response = await postChat(proxy.url, BODY);
  expect(response.status).toBe(400);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('{"error"');
  await expect(reader.read()).rejects.toThrow();
});
