import { expect, test } from 'vitest';
import { type ClientAnswer, errorOf, send, until, unusedPort } from '../server/support/client.js';
import { chatBody, closing, startPair } from '../server/support/pair.js';
import { openWire } from '../server/support/wire.js';
import { startProxy, type TestProxy } from '../support/proxy.js';
import { CHAT, startStub } from '../support/upstream-stub.js';

const ROUTES = [
  ['POST', CHAT],
  ['POST', '/v1/x'],
  ['GET', '/v1/models'],
  ['GET', '/a/../b'],
] as const;

/** An error of ours in OpenAI's shape, without the upstream's address anywhere. */
function expectOwnError(answer: ClientAnswer, status: number, code: string, hidden: readonly string[]): void {
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(JSON.parse(answer.body.toString())).toEqual({
    error: { message: expect.any(String), type: 'api_error', param: null, code },
  });
  const all = answer.rawHeaders.join('\n') + answer.body.toString();
  for (const secret of hidden) expect(all).not.toContain(secret);
}

function expectSilentLog(proxy: TestProxy, hidden: readonly string[]): void {
  const all = JSON.stringify(proxy.logged);
  for (const secret of hidden) expect(all).not.toContain(secret);
}

test.each(ROUTES)('answers %s %s with 502 while the upstream refuses connections', async (method, path) => {
  const port = await unusedPort();
  const proxy = closing(await startProxy({ upstream: `http://127.0.0.1:${port}` }));
  const answer = await send(proxy.url, { method, path, ...(method === 'POST' && { body: chatBody() }) });
  const hidden = ['127.0.0.1', String(port), 'ECONNREFUSED'];
  expectOwnError(answer, 502, 'upstream_unreachable', hidden);
  expectSilentLog(proxy, hidden.slice(0, 2));
});

test.each(ROUTES)(
  'answers %s %s with 502 where the name of the upstream is unknown',
  async (method, path) => {
    const proxy = closing(await startProxy({ upstream: 'http://no-such-host.invalid:8000' }));
    const answer = await send(proxy.url, { method, path, ...(method === 'POST' && { body: chatBody() }) });
    expectOwnError(answer, 502, 'upstream_unreachable', ['no-such-host', '8000']);
    expectSilentLog(proxy, ['no-such-host', '8000']);
  },
);

test('answers an upgrade with 502 while the upstream is down', async () => {
  const port = await unusedPort();
  const proxy = closing(await startProxy({ upstream: `http://127.0.0.1:${port}` }));
  const wire = await openWire(proxy.url);
  wire.socket.write(
    'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  );
  await wire.closed;
  wire.socket.destroy();
  expect(wire.text()).toMatch(/^HTTP\/1\.1 502 /);
  expect(errorOf(wire.text().split('\r\n\r\n')[1] ?? '')).toMatchObject({ code: 'upstream_unreachable' });
  expect(wire.text()).not.toContain(String(port));
});

test('tells of an intercepted request that failed what was decided for it', async () => {
  const proxy = closing(await startProxy({ upstream: `http://127.0.0.1:${await unusedPort()}` }));
  const answer = await send(proxy.url, { method: 'POST', path: CHAT, body: chatBody() });
  expect(answer.headers).toMatchObject({
    'x-incontext-action': 'unchanged',
    'x-incontext-reason': 'window_unknown',
  });
});

test('starts before the upstream does, and serves as soon as it is there', async () => {
  const port = await unusedPort();
  const proxy = closing(await startProxy({ upstream: `http://127.0.0.1:${port}` }));
  expect((await send(proxy.url, { path: '/incontext/ready' })).status).toBe(503);
  closing(await startStub({ port, count: 3000 }));
  await proxy.ready();
  const body = chatBody({ max_tokens: 2000 });
  expect(
    (await send(proxy.url, { method: 'POST', path: CHAT, body })).headers['x-incontext-max-tokens'],
  ).toBe('1096');
});

test('is not ready as soon as a request did not reach the upstream, and ready again once it is back', async () => {
  const { stub, proxy } = await startPair();
  await proxy.ready();
  await stub.close();
  expect((await send(proxy.url, { path: '/v1/x' })).status).toBe(502);
  const answer = await send(proxy.url, { path: '/incontext/ready' });
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.body.toString())).toEqual({ status: 'not_ready', reason: 'upstream_unreachable' });
  closing(await startStub({ port: stub.port }));
  await proxy.ready();
});

test('stays ready while the upstream refuses its credential: it answers', async () => {
  const { proxy } = await startPair({
    routes: { 'GET /v1/models': (_request, response) => response.writeHead(401).end('{}') },
  });
  await proxy.ready();
});

test('asks the upstream for nothing but its models while nobody asks it', async () => {
  const { stub, proxy } = await startPair();
  await until(() => stub.received.length > 0);
  await proxy.ready();
  expect(stub.received.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v1/models']);
});

test("asks for the models with the operator's key, never with a client's", async () => {
  const { stub, proxy } = await startPair({}, {}, { INCONTEXT_UPSTREAM_API_KEY: 'sk-upstream' });
  await proxy.ready();
  expect(stub.at('/v1/models')[0]?.headers.authorization).toBe('Bearer sk-upstream');
});
