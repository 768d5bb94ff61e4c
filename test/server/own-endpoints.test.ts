import { expect, test } from 'vitest';
import { startProxy } from '../support/proxy.js';
import { CHAT, json, type StubRoute } from '../support/upstream-stub.js';
import { errorOf, send } from './support/client.js';
import { chatBody, closing, ECHO, startPair } from './support/pair.js';
import { exchangeBytes } from './support/wire.js';

const CLOSED = 'http://127.0.0.1:9';

test('says that it lives, whatever the upstream does', async () => {
  const proxy = closing(await startProxy({ upstream: CLOSED }));
  const answer = await send(proxy.url, { path: '/incontext/live' });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.body.toString()).toBe('{"status":"live"}');
});

test('is ready once the upstream answered', async () => {
  const { proxy } = await startPair();
  await proxy.ready();
  const answer = await send(proxy.url, { path: '/incontext/ready' });
  expect(answer.status).toBe(200);
  expect(answer.body.toString()).toBe('{"status":"ready"}');
});

test('is not ready while the upstream cannot be reached', async () => {
  const proxy = closing(await startProxy({ upstream: CLOSED }));
  const answer = await send(proxy.url, { path: '/incontext/ready' });
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body.toString())).toEqual({ status: 'not_ready', reason: 'upstream_unreachable' });
});

test('tells its status in the shape of the interface', async () => {
  const { proxy } = await startPair({
    models: [{ id: 'a', max_model_len: 8192 }, { id: 'tiny', max_model_len: 300 }, { id: 'silent' }],
  });
  await proxy.ready();
  await send(proxy.url, { method: 'POST', path: CHAT, body: chatBody({ model: 'a' }) });
  const status = JSON.parse((await send(proxy.url, { path: '/incontext/status' })).body.toString());
  expect(status).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    uptime_seconds: expect.any(Number),
    engine: 'none',
    backend: 'vllm',
    ready: true,
    reason: null,
    in_flight: 0,
    models: [
      { id: 'a', context_length: 8192, window: 8192, reserve: 256, fallback_margin: 64, degraded: false },
      { id: 'tiny', context_length: 300, window: 300, reserve: 256, fallback_margin: 64, degraded: true },
      {
        id: 'silent',
        context_length: null,
        window: null,
        reserve: 256,
        fallback_margin: 64,
        degraded: false,
      },
    ],
    tokenizer: { state: 'closed', calls: 1, failures: 0 },
  });
});

test('tells in its status why it is not ready', async () => {
  const proxy = closing(await startProxy({ upstream: CLOSED }));
  const status = JSON.parse((await send(proxy.url, { path: '/incontext/status' })).body.toString());
  expect(status).toMatchObject({ ready: false, reason: 'upstream_unreachable', models: [] });
});

test('counts what is in flight, upgrades aside', async () => {
  let release: (() => void) | undefined;
  const { stub, proxy } = await startPair({
    routes: {
      'GET /v1/slow': (_request, response) => {
        release = () => response.end('x');
      },
    },
  });
  const slow = send(proxy.url, { path: '/v1/slow' });
  while (stub.at('/v1/slow').length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const inFlight = async () =>
    (
      JSON.parse((await send(proxy.url, { path: '/incontext/status' })).body.toString()) as {
        in_flight: number;
      }
    ).in_flight;
  expect(await inFlight()).toBe(1);
  release?.();
  await slow;
  expect(await inFlight()).toBe(0);
});

test('explains a decision without forwarding, from the body alone', async () => {
  const { stub, proxy } = await startPair({ count: 3000 });
  const explain = async (body: string) =>
    JSON.parse(
      (await send(proxy.url, { method: 'POST', path: '/incontext/explain', body })).body.toString(),
    ) as unknown;
  expect(await explain(chatBody({ max_tokens: 2000 }))).toEqual({
    action: 'clamped',
    reason: 'cap_lowered',
    model: 'm',
    prompt_tokens: 3000,
    original_prompt_tokens: 3000,
    source: 'vllm-tokenize',
    context_length: 4096,
    window: 4096,
    reserve: 256,
    required: 256,
    remaining: 1096,
    pressure: 3255,
    compress_due: false,
    cap: { field: 'max_tokens', before: 2000, after: 1096 },
  });
  expect(await explain('{"not json')).toMatchObject({ action: 'unchanged', reason: 'not_json', cap: null });
  expect(stub.at(CHAT)).toEqual([]);
});

test('explains requests of the other endpoints, and what passes', async () => {
  const version: StubRoute = (_request, response) => json(response, 200, { version: '0.32.0' });
  const { proxy } = await startPair({ count: 3000, routes: { 'GET /version': version } });
  const explain = async (endpoint: string, body: object) => {
    const path = `/incontext/explain?endpoint=${endpoint}`;
    const answer = await send(proxy.url, { method: 'POST', path, body: JSON.stringify(body) });
    return JSON.parse(answer.body.toString()) as unknown;
  };
  const asked = { model: 'm', max_output_tokens: 2000, max_tokens: 2000, input: 'q' };
  expect(await explain('/v1/responses', asked)).toMatchObject({
    cap: { field: 'max_output_tokens', before: 2000, after: 1096 },
  });
  expect(await explain('/v1/completions', { ...asked, prompt: 'q' })).toMatchObject({
    cap: { field: 'max_tokens', before: 2000, after: 1096 },
  });
  expect(await explain('/v1/embeddings', asked)).toMatchObject({ action: 'unchanged', reason: 'ignored' });
});

test.each(['/v1/responses?x=1', '/llm/v1/responses', 'http://proxy/llm/v1/responses?x=1'])(
  'reads the endpoint %s to explain as it reads the path of a request',
  async (endpoint) => {
    const version: StubRoute = (_request, response) => json(response, 200, { version: '0.32.0' });
    const routes = { 'GET /version': version };
    const { proxy } = await startPair({ count: 3000, routes }, { 'path-prefix': '/llm' });
    const path = `/llm/incontext/explain?endpoint=${encodeURIComponent(endpoint)}`;
    const body = JSON.stringify({ model: 'm', max_output_tokens: 2000, input: 'q' });
    const answer = await send(proxy.url, { method: 'POST', path, body });
    expect(JSON.parse(answer.body.toString())).toMatchObject({ cap: { before: 2000, after: 1096 } });
  },
);

test.each([
  'endpont=/v1/responses',
  'endpoint=/v1/responses&x=1',
  'endpoint=/v1/responses&endpoint=/v1/messages',
  'endpoint=v1/responses',
  'endpoint=',
])('refuses to explain ?%s, and says what it takes', async (query) => {
  const { proxy } = await startPair();
  const path = `/incontext/explain?${query}`;
  const answer = await send(proxy.url, { method: 'POST', path, body: chatBody() });
  expect(answer.status).toBe(400);
  expect(errorOf(answer.body)).toEqual({
    message: expect.stringContaining('"endpoint"'),
    type: 'invalid_request_error',
    param: null,
    code: 'malformed_query',
  });
});

test('explains a body over the limit too', async () => {
  const { proxy } = await startPair({}, { 'body-limit': '1000' });
  const body = chatBody({ pad: 'x'.repeat(5000) });
  const answer = await send(proxy.url, { method: 'POST', path: '/incontext/explain', body });
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.body.toString())).toMatchObject({ action: 'unchanged', reason: 'body_too_large' });
});

test.each(['live', 'ready', 'status', 'metrics'])('answers HEAD at %s', async (name) => {
  const { proxy } = await startPair();
  await proxy.ready();
  const answer = await send(proxy.url, { method: 'HEAD', path: `/incontext/${name}` });
  expect(answer.status).toBe(200);
  expect(answer.body.length).toBe(0);
});

test.each([
  ['POST', '/incontext/live', 'GET, HEAD'],
  ['DELETE', '/incontext/ready?x=1', 'GET, HEAD'],
  ['PROPFIND', '/incontext/metrics', 'GET, HEAD'],
  ['GET', '/incontext/explain', 'POST'],
  ['OPTIONS', '/incontext/status', 'GET, HEAD'],
])('refuses %s %s with 405, and does not forward it', async (method, path, allow) => {
  const { stub, proxy } = await startPair(ECHO);
  const answer = await send(proxy.url, { method, path });
  expect(answer.status).toBe(405);
  expect(answer.headers.allow).toBe(allow);
  expect(errorOf(answer.body)).toMatchObject({ type: 'invalid_request_error', code: 'method_not_allowed' });
  expect(stub.received.every((one) => one.url === '/v1/models')).toBe(true);
});

test.each([
  ['GET', '/incontext/'],
  ['GET', '/incontext/nothing'],
  ['POST', '/incontext/live/x'],
  ['PROPFIND', '/incontext/nothing'],
  ['GET', '/incontext/%E0%A4%A'],
  ['GET', '/incontext/../v1/models'],
  ['GET', '/incontext/%2e%2e/v1/x'],
  ['GET', '/incontext//live'],
  ['GET', '/%69ncontext/nothing'],
])('refuses %s %s with 404, and does not forward it', async (method, path) => {
  const { stub, proxy } = await startPair(ECHO);
  const answer = await send(proxy.url, { method, path });
  expect(answer.status).toBe(404);
  expect(errorOf(answer.body)).toEqual({
    message: expect.any(String),
    type: 'invalid_request_error',
    param: null,
    code: 'not_found',
  });
  expect(stub.received.every((one) => one.url === '/v1/models')).toBe(true);
});

test.each([
  ['a line of garbage', 'GARBAGE\r\n\r\n', 400, 'malformed_request'],
  ['a malformed field', 'GET /v1/x HTTP/1.1\r\nbad field\r\n\r\n', 400, 'malformed_request'],
  [
    '300 kB of fields',
    `GET /v1/x HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(300_000)}\r\n\r\n`,
    431,
    'header_fields_too_large',
  ],
])('answers %s with an error in the shape of OpenAI', async (_name, bytes, status, code) => {
  const { proxy } = await startPair();
  const text = await exchangeBytes(proxy.url, bytes);
  expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(errorOf(text.slice(text.indexOf('\r\n\r\n') + 4))).toMatchObject({ param: null, code });
});
