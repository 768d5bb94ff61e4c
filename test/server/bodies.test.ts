import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { CHAT } from '../support/upstream-stub.js';
import { send } from './support/client.js';
import { chatBody, ECHO, startPair } from './support/pair.js';
import { exchangeBytes } from './support/wire.js';

const ODD_TYPES = [
  'not a type',
  'application/json; charset=utf-16',
  'text/plain',
  ';',
  'multipart/form-data',
];

test.each(ODD_TYPES)('clamps a chat with the content type %j, which stays', async (type) => {
  const { stub, proxy } = await startPair({ count: 3000 });
  const answer = await send(proxy.url, {
    method: 'POST',
    path: CHAT,
    headers: { 'content-type': type },
    body: chatBody({ max_tokens: 2000 }),
  });
  expect(answer.headers['x-incontext-reason']).toBe('cap_lowered');
  expect(stub.only(CHAT).headers['content-type']).toBe(type);
});

test.each(ODD_TYPES)('passes a body with the content type %j', async (type) => {
  const { stub, proxy } = await startPair(ECHO);
  const headers = { 'content-type': type };
  const answer = await send(proxy.url, { method: 'POST', path: '/v1/x', headers, body: 'bytes' });
  expect(answer.status).toBe(200);
  expect(stub.only('/v1/x').headers['content-type']).toBe(type);
  expect(stub.only('/v1/x').body.toString()).toBe('bytes');
});

test.each(['/v1/x', CHAT])('adds no content type to a body without one at %s', async (path) => {
  const { stub, proxy } = await startPair({ ...ECHO });
  await send(proxy.url, { method: 'POST', path, body: '{' });
  expect(stub.only(path).rawHeaders.map((name) => name.toLowerCase())).not.toContain('content-type');
  expect(stub.only(path).body.toString()).toBe('{');
});

test.each([
  ['empty', ''],
  ['cut short', '{"a":1'],
  ['a list', '[]'],
  ['a string', '"x"'],
  ['null', 'null'],
  ['without a list of messages', '{"messages":"hi"}'],
  ['10,000 levels deep', '['.repeat(10_000)],
])('forwards a chat body for the upstream to judge that is %s', async (_name, body) => {
  const { stub, proxy } = await startPair(ECHO);
  const answer = await send(proxy.url, {
    method: 'POST',
    path: CHAT,
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(answer.status).toBe(200);
  expect(answer.headers['x-incontext-action']).toBe('unchanged');
  expect(answer.headers['x-incontext-reason']).toMatch(/^(not_json|ignored)$/);
  expect(stub.only(CHAT).body.toString()).toBe(body);
  expect(stub.at('/tokenize')).toEqual([]);
});

test('passes a gzip answer as it is', async () => {
  const zipped = gzipSync('{"answer":1}');
  const { stub, proxy } = await startPair({
    routes: {
      '*': (_request, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': zipped.length }).end(zipped),
    },
  });
  for (const path of ['/v1/x', CHAT]) {
    const headers = { 'accept-encoding': 'gzip, br' };
    const answer = await send(proxy.url, { method: 'POST', path, headers, body: chatBody() });
    expect(answer.headers['content-encoding']).toBe('gzip');
    expect(answer.body.equals(zipped)).toBe(true);
    expect(stub.only(path).headers['accept-encoding']).toBe('gzip, br');
  }
});

test('passes a gzip request body uninspected, and says so', async () => {
  const { stub, proxy } = await startPair({ ...ECHO });
  const zipped = gzipSync(chatBody({ max_tokens: 1e6 }));
  const answer = await send(proxy.url, {
    method: 'POST',
    path: CHAT,
    headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
    body: zipped,
  });
  expect(answer.headers).toMatchObject({
    'x-incontext-action': 'unchanged',
    'x-incontext-source': 'none',
    'x-incontext-reason': 'encoded_body',
  });
  expect(stub.only(CHAT).headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(stub.only(CHAT).body).toString()).toBe(chatBody({ max_tokens: 1e6 }));
});

test('reads a body whose content encoding is identity', async () => {
  const { proxy } = await startPair({ count: 3000 });
  const headers = { 'content-encoding': 'identity' };
  const body = chatBody({ max_tokens: 2000 });
  const answer = await send(proxy.url, { method: 'POST', path: CHAT, headers, body });
  expect(answer.headers['x-incontext-reason']).toBe('cap_lowered');
});

test('clamps a chunked body and sends it with its length', async () => {
  const { stub, proxy } = await startPair({ count: 3000 });
  const body = chatBody({ max_tokens: 2000 });
  const answer = await send(proxy.url, {
    method: 'POST',
    path: CHAT,
    body: Readable.from([body.slice(0, 20), body.slice(20)], { objectMode: false }),
  });
  expect(answer.headers['x-incontext-reason']).toBe('cap_lowered');
  const seen = stub.only(CHAT);
  expect(seen.headers['transfer-encoding']).toBeUndefined();
  expect(seen.headers['content-length']).toBe(String(seen.body.length));
  expect(seen.body.toString()).toBe(chatBody({ max_tokens: 1096 }));
});

test('passes a chunked body elsewhere', async () => {
  const { stub, proxy } = await startPair(ECHO);
  await send(proxy.url, {
    method: 'POST',
    path: '/v1/x',
    body: Readable.from(['ab', 'cd'], { objectMode: false }),
  });
  expect(stub.only('/v1/x').body.toString()).toBe('abcd');
});

test.each(['/v1/x', CHAT])('is not disturbed by trailers of a request to %s', async (path) => {
  const { stub, proxy } = await startPair({ ...ECHO });
  const text = await exchangeBytes(
    proxy.url,
    `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n` +
      '5\r\n{"a":\r\n2\r\n1}\r\n0\r\nx-sum: 9\r\n\r\n',
  );
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(stub.only(path).body.toString()).toBe('{"a":1}');
  expect(stub.only(path).headers.trailer).toBeUndefined();
});

test.each(['/v1/x', CHAT])('is not disturbed by trailers of an answer at %s', async (path) => {
  const { proxy } = await startPair({
    routes: {
      '*': (_request, response) => {
        response.writeHead(200, { trailer: 'x-sum' });
        response.write('part');
        response.addTrailers({ 'x-sum': '9' });
        response.end();
      },
    },
  });
  const answer = await send(proxy.url, { method: 'POST', path, body: chatBody() });
  expect(answer.status).toBe(200);
  expect(answer.body.toString()).toBe('part');
  expect(answer.headers.trailer).toBeUndefined();
});
