import { expect, test } from 'vitest';
import { startProxy } from '../support/proxy.js';
import { CHAT, startStub } from '../support/upstream-stub.js';
import { send } from './support/client.js';
import { chatBody, closing, ECHO, startPair } from './support/pair.js';
import { exchangeBytes } from './support/wire.js';

test.each([
  '/v1/x?level=1&tags=a%20b&tags=c+d&e=',
  '/v1/x?',
  '/v1/x?a=%2F&b=%zz&c=[]{}|^`"<>',
  '/v1/models/org%2Fname',
  '/v1/models/org%2fname%3Fx',
  '/v1/mod%65ls/a%20b',
  '//v1/x',
  '/v1//x',
  '/a/../b',
  '/a/./b',
  '/a/%2e%2e/b',
  '/..',
  '/%E0%A4%A',
  '/%',
  '/{x}',
  '/a\\b',
  '/a|b^c',
  '/:id/*',
  '/v1/x;p=1',
  '/v1/chat/completions/',
  '/V1/Chat/Completions',
  '/incontext',
  '/incontextual/live',
])('forwards the target %s as it stands (BerriAI/litellm#13334)', async (path) => {
  const { stub, proxy } = await startPair(ECHO);
  const answer = await send(proxy.url, { path });
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.body.toString())).toEqual({ method: 'GET', url: path });
  expect(stub.received.some((one) => one.url === path)).toBe(true);
});

test('forwards an odd path with its body', async () => {
  const { stub, proxy } = await startPair(ECHO);
  await send(proxy.url, { method: 'POST', path: '/a/../b', body: 'bytes' });
  expect(stub.only('/a/../b').body.toString()).toBe('bytes');
});

test('reads an absolute-form target as its path', async () => {
  const { stub, proxy } = await startPair(ECHO);
  const text = await exchangeBytes(
    proxy.url,
    'GET http://elsewhere.invalid/v1/x?a=1 HTTP/1.1\r\nhost: elsewhere.invalid\r\nconnection: close\r\n\r\n',
  );
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(stub.only('/v1/x')).toMatchObject({ url: '/v1/x?a=1', headers: { host: `127.0.0.1:${stub.port}` } });
});

test('answers at the absolute form of its own endpoints, and does not forward them', async () => {
  const { stub, proxy } = await startPair(ECHO);
  const text = await exchangeBytes(
    proxy.url,
    'GET http://x/incontext/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
  );
  expect(text).toContain('{"status":"live"}');
  expect(stub.at('/incontext/live')).toEqual([]);
});

test.each([
  ['', '/v1/models'],
  ['/', '/v1/models'],
  ['/v1', '/v1/models'],
  ['/v1/', '/v1/models'],
  ['/prefix/v1', '/prefix/v1/models'],
  ['/prefix/', '/prefix/v1/models'],
])('does not double /v1 behind an upstream ending in %j (OpenHands/OpenHands#6836)', async (base, at) => {
  const stub = closing(
    await startStub({ routes: { [`GET ${at}`]: (_request, response) => response.end('here') } }),
  );
  const proxy = closing(await startProxy({ upstream: stub.url + base }));
  expect((await send(proxy.url, { path: '/v1/models' })).body.toString()).toBe('here');
});

test('clamps behind an upstream with a path, and keeps that path', async () => {
  const stub = closing(
    await startStub({
      routes: {
        'GET /prefix/v1/models': (_request, response) =>
          response.end('{"data":[{"id":"m","max_model_len":4096}]}'),
        'POST /prefix/tokenize': (_request, response) =>
          response.end('{"count":3000,"max_model_len":4096,"tokens":[1]}'),
        'GET /prefix/version': (_request, response) => response.end('{"version":"0.32.0"}'),
        [`POST /prefix${CHAT}`]: (_request, response) => response.end('{}'),
      },
    }),
  );
  const proxy = closing(await startProxy({ upstream: `${stub.url}/prefix/v1` }));
  const answer = await send(proxy.url, { method: 'POST', path: CHAT, body: chatBody({ max_tokens: 2000 }) });
  expect(answer.headers['x-incontext-max-tokens']).toBe('1096');
  expect(stub.only(`/prefix${CHAT}`).body.toString()).toBe(chatBody({ max_tokens: 1096 }));
});

test.each([
  ['/llm/v1/x?y=1', '/v1/x?y=1'],
  ['/v1/x', '/v1/x'],
  ['/llm', '/'],
  ['/llm?a=1', '/?a=1'],
  ['/llmx/v1', '/llmx/v1'],
  ['/llm//v1', '//v1'],
])('with the path prefix /llm a request for %s goes to %s', async (path, at) => {
  const { proxy } = await startPair(ECHO, { 'path-prefix': '/llm' });
  expect(JSON.parse((await send(proxy.url, { path })).body.toString())).toEqual({ method: 'GET', url: at });
});

test.each(['/llm/v1/chat/completions', '/v1/chat/completions', '/v1/chat/completions?api-version=1'])(
  'intercepts %s with the path prefix /llm',
  async (path) => {
    const { stub, proxy } = await startPair({ count: 3000 }, { 'path-prefix': '/llm' });
    const answer = await send(proxy.url, { method: 'POST', path, body: chatBody({ max_tokens: 2000 }) });
    expect(answer.headers['x-incontext-reason']).toBe('cap_lowered');
    expect(stub.only(CHAT).url).toBe(path.replace('/llm', ''));
  },
);

test('answers its own endpoints behind the path prefix too', async () => {
  const { proxy } = await startPair(ECHO, { 'path-prefix': '/llm' });
  expect((await send(proxy.url, { path: '/llm/incontext/live' })).body.toString()).toBe('{"status":"live"}');
});
