import { expect, test } from 'vitest';
import { CHAT } from '../support/upstream-stub.js';
import { errorOf, send } from './support/client.js';
import { chatBody, ECHO, startPair } from './support/pair.js';
import { openWire } from './support/wire.js';

const KEYS = { INCONTEXT_API_KEYS: 'key-one,key-two' };
const TOKEN = { INCONTEXT_ADMIN_TOKEN: 'the-admin-token' };
const UPSTREAM_KEY = { INCONTEXT_UPSTREAM_API_KEY: 'sk-upstream' };

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

test.each(['/v1/models', CHAT, '/health', '/a/../b', '/incontext/metrics'])(
  'with API keys set refuses %s without one of them, and does not forward it',
  async (path) => {
    const { stub, proxy } = await startPair(ECHO, {}, KEYS);
    for (const headers of [
      {},
      bearer('key-three'),
      bearer('key-one,key-two'),
      { authorization: 'key-one' },
    ]) {
      const answer = await send(proxy.url, { path, headers });
      expect(answer.status).toBe(401);
      expect(errorOf(answer.body)).toEqual({
        message: expect.stringContaining('Bearer'),
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      });
    }
    expect(stub.received.filter((one) => one.url !== '/v1/models')).toEqual([]);
  },
);

test.each(['key-one', 'key-two'])('with API keys set serves a client with %s', async (key) => {
  const { proxy } = await startPair(ECHO, {}, KEYS);
  for (const path of ['/v1/x', CHAT, '/incontext/metrics', '/incontext/status']) {
    expect((await send(proxy.url, { path, headers: bearer(key) })).status).toBe(200);
  }
});

test('with API keys set lets OPTIONS and the probes pass without one', async () => {
  const { stub, proxy } = await startPair({}, {}, KEYS);
  await proxy.ready();
  stub.set(ECHO);
  expect((await send(proxy.url, { method: 'OPTIONS', path: CHAT })).status).toBe(200);
  expect((await send(proxy.url, { path: '/incontext/live' })).status).toBe(200);
  expect((await send(proxy.url, { path: '/incontext/ready' })).status).toBe(200);
});

test('never sends a key of its own upstream, nor to the tokenizer', async () => {
  const { stub, proxy } = await startPair({ count: 3000 }, {}, KEYS);
  const headers = bearer('key-one');
  const body = chatBody({ max_tokens: 2000 });
  expect((await send(proxy.url, { method: 'POST', path: CHAT, headers, body })).status).toBe(200);
  await send(proxy.url, { method: 'POST', path: '/v1/x', headers, body: 'x' });
  for (const path of ['/tokenize', CHAT, '/v1/x']) {
    expect(stub.only(path).headers.authorization).toBeUndefined();
  }
});

test.each([{}, KEYS])("sends the configured key upstream in place of the client's: %j", async (env) => {
  const { stub, proxy } = await startPair({ count: 3000 }, {}, { ...UPSTREAM_KEY, ...env });
  const headers = bearer('key-one');
  await send(proxy.url, { method: 'POST', path: CHAT, headers, body: chatBody() });
  await send(proxy.url, { method: 'POST', path: '/v1/x', headers, body: 'x' });
  await send(proxy.url, { path: '/a/../b', headers });
  for (const path of ['/tokenize', CHAT, '/v1/x', '/a/../b']) {
    const seen = stub.only(path).rawHeaders;
    expect(seen.filter((name) => name.toLowerCase() === 'authorization')).toHaveLength(1);
    expect(stub.only(path).headers.authorization).toBe('Bearer sk-upstream');
  }
});

test("sends the client's own credential upstream where none is configured", async () => {
  const { stub, proxy } = await startPair({ count: 3000 });
  const headers = { authorization: 'Basic dTpw' };
  await send(proxy.url, { method: 'POST', path: CHAT, headers, body: chatBody() });
  await send(proxy.url, { path: '/v1/x', headers });
  for (const path of ['/tokenize', CHAT, '/v1/x'])
    expect(stub.only(path).headers.authorization).toBe('Basic dTpw');
});

const OWN = [
  '/incontext/status',
  '/incontext/explain',
  '/incontext/nothing',
  '/%69ncontext/status',
  '/incontext/%73tatus',
];

test.each(OWN)('with an admin token set asks for it at %s', async (path) => {
  const { proxy } = await startPair(ECHO, {}, { ...TOKEN, ...KEYS });
  for (const headers of [{}, bearer('key-one'), bearer('wrong')]) {
    const answer = await send(proxy.url, { method: 'POST', path, headers, body: '{}' });
    expect(answer.status).toBe(401);
    expect(errorOf(answer.body).code).toBe('admin_only');
  }
  expect(
    (await send(proxy.url, { method: 'POST', path, headers: bearer('the-admin-token'), body: '{}' })).status,
  ).not.toBe(401);
});

test('with an admin token set leaves metrics to the API keys, or to all', async () => {
  const open = await startPair({}, {}, TOKEN);
  expect((await send(open.proxy.url, { path: '/incontext/metrics' })).status).toBe(200);
  const keyed = await startPair({}, {}, { ...TOKEN, ...KEYS });
  const answer = await send(keyed.proxy.url, {
    path: '/incontext/metrics',
    headers: bearer('the-admin-token'),
  });
  expect(answer.status).toBe(401);
});

test.each(OWN)('with API keys but no admin token takes a key at %s', async (path) => {
  const { proxy } = await startPair(ECHO, {}, KEYS);
  expect((await send(proxy.url, { path })).status).toBe(401);
  expect((await send(proxy.url, { path, headers: bearer('key-two') })).status).not.toBe(401);
});

test.each(['x-forwarded-for', 'X-Forwarded-Proto', 'forwarded', 'via', 'x-real-ip'])(
  'without a token answers local requests only: %s tells of another origin',
  async (name) => {
    const { proxy } = await startPair(ECHO);
    for (const path of OWN) {
      const answer = await send(proxy.url, { path, headers: { [name]: '127.0.0.1' } });
      expect(answer.status).toBe(401);
      expect(errorOf(answer.body).code).toBe('admin_only');
    }
    expect((await send(proxy.url, { path: '/incontext/status' })).status).toBe(200);
    expect(
      (await send(proxy.url, { path: '/incontext/metrics', headers: { [name]: '1.2.3.4' } })).status,
    ).toBe(200);
    expect((await send(proxy.url, { path: '/v1/x', headers: { [name]: '1.2.3.4' } })).status).toBe(200);
  },
);

test('guards upgrades with the API keys', async () => {
  const { stub, proxy } = await startPair(ECHO, {}, KEYS);
  const wire = await openWire(proxy.url);
  wire.socket.write(
    'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  );
  await wire.closed;
  wire.socket.destroy();
  expect(wire.text()).toMatch(/^HTTP\/1\.1 401 /);
  expect(wire.text()).toContain('"code":"invalid_api_key"');
  expect(stub.at('/v1/realtime')).toEqual([]);
});
