import { expect, test } from 'vitest';
import { send } from './support/client.js';
import { ECHO, startPair } from './support/pair.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'QUERY', 'REPORT'];

test.each(METHODS)('passes %s with its path and query', async (method) => {
  const { stub, proxy } = await startPair(ECHO);
  const answer = await send(proxy.url, { method, path: '/v1/things/1?a=b' });
  expect(answer.status).toBe(200);
  expect(stub.only('/v1/things/1')).toMatchObject({ method, url: '/v1/things/1?a=b' });
});

test.each(METHODS.filter((method) => method !== 'HEAD'))('passes the body of a %s', async (method) => {
  const { stub, proxy } = await startPair(ECHO);
  const answer = await send(proxy.url, {
    method,
    path: '/v1/things',
    headers: { 'content-length': '5' },
    body: 'bytes',
  });
  expect(answer.status).toBe(200);
  expect(stub.only('/v1/things').body.toString()).toBe('bytes');
  expect(stub.only('/v1/things').headers['content-length']).toBe('5');
});

test.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])(
  'passes a %s to the path of an intercepted endpoint',
  async (method) => {
    const { stub, proxy } = await startPair(ECHO);
    const answer = await send(proxy.url, { method, path: '/v1/chat/completions' });
    expect(answer.status).toBe(200);
    expect(answer.headers['x-incontext-action']).toBeUndefined();
    expect(stub.only('/v1/chat/completions').method).toBe(method);
  },
);

test.each(['/v1/models', '/health', '/metrics', '/tokenize', '/ping', '/version', '/docs', '/'])(
  "reaches the upstream's own %s",
  async (path) => {
    const { stub, proxy } = await startPair({
      routes: { [`GET ${path}`]: (_request, response) => response.end('the upstream') },
    });
    expect((await send(proxy.url, { path })).body.toString()).toBe('the upstream');
    expect(stub.at(path).length).toBeGreaterThan(0);
  },
);
