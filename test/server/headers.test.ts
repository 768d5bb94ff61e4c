import { expect, test } from 'vitest';
import { startProxy } from '../support/proxy.js';
import { CHAT, type StubOptions } from '../support/upstream-stub.js';
import { send } from './support/client.js';
import { chatBody, closing, ECHO, startPair } from './support/pair.js';
import { startRawUpstream } from './support/raw-upstream.js';
import { exchangeBytes, splitAnswer } from './support/wire.js';

const ROUTES = ['/v1/x', CHAT] as const;
const TOO_MUCH = chatBody({ max_tokens: 1_000_000 });

function answering(fields: readonly string[], body = '{}'): StubOptions {
  return {
    count: 3000,
    routes: {
      '*': (request, response) => {
        if (request.url === '/tokenize')
          return response.end('{"count":3000,"max_model_len":4096,"tokens":[1]}');
        if (request.url === '/v1/models') return response.end('{"data":[{"id":"m","max_model_len":4096}]}');
        return response.writeHead(200, fields as string[]).end(body);
      },
    },
  };
}

test.each(ROUTES)('keeps names, order and duplicates of request fields at %s', async (path) => {
  const { stub, proxy } = await startPair({ ...ECHO });
  const fields = [
    'X-One',
    '1',
    'x-two',
    '2',
    'X-ONE',
    '3',
    'Cookie',
    'a=1',
    'Authorization',
    'Bearer k',
    'X-E',
    '',
  ];
  await send(proxy.url, {
    method: 'POST',
    path,
    headers: [...fields, 'Host', 'client.example', 'Content-Length', '2'],
    body: '{}',
  });
  const seen = stub.only(path).rawHeaders;
  expect(seen.slice(seen.indexOf('X-One'), seen.indexOf('X-E') + 2)).toEqual(fields);
  expect(stub.only(path).headers.host).toBe(`127.0.0.1:${stub.port}`);
});

test.each(ROUTES)('keeps names, order and duplicates of answer fields at %s', async (path) => {
  const fields = [
    'X-One',
    '1',
    'Set-Cookie',
    'a=1',
    'x-two',
    '2',
    'set-cookie',
    'b=2',
    'Date',
    'never',
    'Server',
    'u',
  ];
  const { proxy } = await startPair(answering([...fields, 'Content-Length', '2']));
  const { rawHeaders } = await send(proxy.url, { method: 'POST', path, body: chatBody() });
  expect(rawHeaders.slice(0, fields.length + 2)).toEqual([...fields, 'Content-Length', '2']);
  expect(rawHeaders.filter((name) => name.toLowerCase() === 'date')).toEqual(['Date']);
});

test.each(ROUTES)('strips hop-by-hop fields of a request to %s, and what Connection names', async (path) => {
  const { stub, proxy } = await startPair({ ...ECHO });
  const text = await exchangeBytes(
    proxy.url,
    [
      `POST ${path} HTTP/1.1`,
      'host: x',
      'connection: close, X-Hop , authorization-not',
      'connection: x-second',
      'x-hop: 1',
      'x-second: 1',
      'keep-alive: timeout=9',
      'proxy-authorization: Basic c2VjcmV0',
      'proxy-connection: keep-alive',
      'te: trailers',
      'trailer: x-sum',
      'x-end-to-end: kept',
      'content-length: 2',
      '',
      '{}',
    ].join('\r\n'),
  );
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  const { headers } = stub.only(path);
  expect(headers['x-end-to-end']).toBe('kept');
  expect(headers.connection).toBe('keep-alive');
  for (const name of [
    'x-hop',
    'x-second',
    'keep-alive',
    'proxy-authorization',
    'proxy-connection',
    'te',
    'trailer',
  ]) {
    expect(headers[name]).toBeUndefined();
  }
});

test.each(ROUTES)('strips hop-by-hop fields of an answer at %s, and what Connection names', async (path) => {
  const { proxy } = await startPair(
    answering([
      ...[
        'Connection',
        'close, X-Hop',
        'X-Hop',
        '1',
        'Keep-Alive',
        'timeout=5',
        'Proxy-Authenticate',
        'Basic',
      ],
      ...['X-Kept', '1', 'Content-Length', '2'],
    ]),
  );
  const text = await exchangeBytes(
    proxy.url,
    `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}`,
  );
  const { fields } = splitAnswer(text);
  expect(fields).toContain('X-Kept: 1');
  expect(fields.filter((field) => /^(x-hop|keep-alive|proxy-)/i.test(field))).toEqual([]);
  expect(fields.filter((field) => /^connection/i.test(field))).toEqual(['Connection: close']);
});

test('keeps the connection of a client although the upstream closes its own', async () => {
  const { proxy } = await startPair(answering(['Connection', 'close', 'Content-Length', '2']));
  const text = await exchangeBytes(
    proxy.url,
    'GET /v1/x HTTP/1.1\r\nhost: x\r\n\r\nGET /v1/y HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
  );
  expect(text.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
});

test.each(ROUTES)('closes the connection of an HTTP/1.0 client after the answer of %s', async (path) => {
  const { proxy } = await startPair(answering(['Connection', 'keep-alive', 'Keep-Alive', 'timeout=5']));
  const text = await exchangeBytes(proxy.url, `POST ${path} HTTP/1.0\r\ncontent-length: 2\r\n\r\n{}`);
  expect(splitAnswer(text).body).toBe('{}');
  expect(text.toLowerCase()).not.toContain('transfer-encoding');
});

test.each(ROUTES)('never forwards x-incontext-* request fields at %s', async (path) => {
  const { stub, proxy } = await startPair({ ...ECHO });
  const headers = {
    'x-incontext-conversation': 'c',
    'X-InContext-Engine': 'none',
    'x-incontext-anything': '1',
  };
  await send(proxy.url, { method: 'POST', path, headers, body: '{}' });
  expect(Object.keys(stub.only(path).headers).filter((name) => name.startsWith('x-incontext'))).toEqual([]);
});

test("does not mix an upstream's x-incontext-* answer fields with its own", async () => {
  const { proxy } = await startPair(
    answering([
      'x-incontext-action',
      'compressed',
      'X-Incontext-Window',
      '1',
      'x-incontext-conversation',
      'theirs',
    ]),
  );
  const { rawHeaders, headers } = await send(proxy.url, { method: 'POST', path: CHAT, body: TOO_MUCH });
  expect(rawHeaders.filter((name) => name.toLowerCase() === 'x-incontext-action')).toHaveLength(1);
  expect(headers).toMatchObject({ 'x-incontext-action': 'clamped', 'x-incontext-window': '4096' });
  expect(headers['x-incontext-conversation']).toBeUndefined();
});

test('sends the length of the rewritten body, and no digest of the old one (chimurai/http-proxy-middleware#447)', async () => {
  const { stub, proxy } = await startPair({ count: 3000 });
  const digests = { 'content-md5': 'x', digest: 'x', 'Content-Digest': 'x', 'repr-digest': 'x' };
  await send(proxy.url, { method: 'POST', path: CHAT, headers: digests, body: TOO_MUCH });
  const { headers, body } = stub.only(CHAT);
  expect(body.toString()).toBe(chatBody({ max_tokens: 1096 }));
  expect(headers['content-length']).toBe(String(body.length));
  for (const name of Object.keys(digests)) expect(headers[name.toLowerCase()]).toBeUndefined();
});

test('keeps the digests of a body that it did not rewrite', async () => {
  const { stub, proxy } = await startPair({ count: 3000 });
  const headers = { 'content-md5': 'x', digest: 'y' };
  await send(proxy.url, { method: 'POST', path: CHAT, headers, body: chatBody({ max_tokens: 300 }) });
  expect(stub.only(CHAT).headers).toMatchObject(headers);
});

test('passes heads of 100 kB both ways', async () => {
  const long = 'a'.repeat(100_000);
  const upstream = closing(
    await startRawUpstream(({ socket }) =>
      socket.write(`HTTP/1.1 200 OK\r\nx-long: ${long}\r\ncontent-length: 2\r\n\r\nok`),
    ),
  );
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  const text = await exchangeBytes(
    proxy.url,
    `GET /v1/x HTTP/1.1\r\nhost: x\r\nx-mine: ${long}\r\nconnection: close\r\n\r\n`,
  );
  expect(splitAnswer(text).fields).toContain(`x-long: ${long}`);
  expect(upstream.requests[0]?.head).toContain(`\r\nx-mine: ${long}`);
});

test('passes an answer with a reason phrase that Node would not write', async () => {
  const upstream = closing(
    await startRawUpstream(({ socket }) =>
      socket.write(Buffer.from('HTTP/1.1 418 a \u2615 \u00e9\r\ncontent-length: 3\r\n\r\nthe')),
    ),
  );
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  const text = await exchangeBytes(proxy.url, 'GET /v1/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  expect(splitAnswer(text)).toMatchObject({ statusLine: 'HTTP/1.1 418 a ? \u00e9', body: 'the' });
});

test.each(ROUTES)('keeps the bytes of fields above 0x7f both ways at %s', async (path) => {
  const upstream = closing(
    await startRawUpstream(({ socket }) =>
      socket.write(
        Buffer.from('HTTP/1.1 200 OK\r\nx-a: caf\xe9 \xe2\x98\x95\r\ncontent-length: 2\r\n\r\nok', 'latin1'),
      ),
    ),
  );
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  const text = await exchangeBytes(
    proxy.url,
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nx-b: na\xefve\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
      'latin1',
    ),
  );
  expect(splitAnswer(text).fields).toContain('x-a: caf\xe9 \xe2\x98\x95');
  expect(upstream.requests[0]?.head).toContain('\r\nx-b: na\xefve\r\n');
});
