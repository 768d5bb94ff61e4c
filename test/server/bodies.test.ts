import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startProxy } from '../support/proxy.js';
import { CHAT } from '../support/upstream-stub.js';
import { send, settled, sleep, until, unusedPort } from './support/client.js';
import { chatBody, closing, ECHO, startPair } from './support/pair.js';
import { exchangeBytes, openWire } from './support/wire.js';

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

test('passes 30 MB of multipart audio byte for byte (fastify/help#67)', async () => {
  const received = createHash('sha256');
  let type: string | undefined;
  const upstream = await startSink((request, response) => {
    type = request.headers['content-type'];
    request.on('data', (chunk: Buffer) => received.update(chunk)).on('end', () => response.end('done'));
  });
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  const piece = randomBytes(1 << 20);
  const sent = createHash('sha256');
  const contentType = 'multipart/form-data; boundary="----a?b=c"';
  const answer = await send(proxy.url, {
    method: 'POST',
    path: '/v1/audio/transcriptions',
    headers: { 'content-type': contentType, 'content-length': String(30 << 20) },
    body: Readable.from(
      repeat(piece, 30, () => sent.update(piece)),
      { objectMode: false },
    ),
  });
  expect(answer.body.toString()).toBe('done');
  expect(type).toBe(contentType);
  expect(received.digest('hex')).toBe(sent.digest('hex'));
});

test('takes no more of an upload than the upstream does, so that memory stays constant', async () => {
  let taken = 0;
  let request: IncomingMessage | undefined;
  const upstream = await startSink((incoming, response) => {
    request = incoming;
    incoming.on('end', () => response.end('done'));
  });
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  const pieces = repeat(Buffer.alloc(1 << 20), 200, () => {
    taken += 1;
  });
  const answer = send(proxy.url, {
    method: 'POST',
    path: '/v1/audio/transcriptions',
    headers: { 'content-length': String(200 << 20) },
    body: Readable.from(pieces, { objectMode: false }),
  });
  await until(() => request !== undefined);
  await settled(() => taken);
  // What the sockets' own buffers hold on the way.
  expect(taken).toBeLessThan(40);
  request?.resume();
  expect((await answer).body.toString()).toBe('done');
  expect(taken).toBe(200);
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

test('passes an answer that comes before the request was read, as a refusal of a large upload does', async () => {
  const upstream = await startSink((_request, response) => {
    response.writeHead(413, { connection: 'close', 'content-length': '9' }).end('too large');
  });
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  const body = Readable.from(slowly(200), { objectMode: false });
  const answer = await send(proxy.url, { method: 'POST', path: '/v1/files', body });
  expect(answer.status).toBe(413);
  expect(answer.body.toString()).toBe('too large');
});

test.each([
  ['/v1/files', {}],
  [CHAT, { 'body-limit': '1000' }],
] as const)(
  'goes on reading an upload to %s after an early answer, for clients that read no answer before they sent all',
  async (path, flags) => {
    const port = await unusedPort();
    const proxy = closing(await startProxy({ upstream: `http://127.0.0.1:${port}`, ...flags }));
    const wire = await openWire(proxy.url);
    wire.socket.pause();
    wire.socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${30 << 20}\r\n\r\n`);
    const isSent = new Promise<void>((resolve) => wire.socket.write(Buffer.alloc(30 << 20), () => resolve()));
    await isSent;
    wire.socket.resume();
    await wire.until(/HTTP\/1\.1 502 [\s\S]*upstream_unreachable/);
    wire.socket.write('GET /incontext/live HTTP/1.1\r\nhost: x\r\n\r\n');
    await wire.until(/\{"status":"live"\}$/);
    wire.socket.destroy();
  },
);

function* repeat(piece: Buffer, times: number, onPiece: () => void): Generator<Buffer> {
  for (let i = 0; i < times; i += 1) {
    onPiece();
    yield piece;
  }
}

async function* slowly(pieces: number): AsyncGenerator<Buffer> {
  for (let i = 0; i < pieces; i += 1) {
    yield Buffer.alloc(16_384);
    await sleep(5);
  }
}

/** An upstream whose posts are not read before they are answered. */
async function startSink(onPost: RequestListener): Promise<{ url: string }> {
  const server = createServer((request, response) => {
    if (request.method === 'POST') onPost(request, response);
    else response.end('{"data":[]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing({
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
