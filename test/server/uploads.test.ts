import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { startProxy } from '../support/proxy.js';
import { CHAT } from '../support/upstream-stub.js';
import { send, settled, sleep, until, unusedPort } from './support/client.js';
import { closing } from './support/pair.js';
import { openWire } from './support/wire.js';

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
