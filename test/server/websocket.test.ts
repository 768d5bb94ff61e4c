import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { startProxy } from '../support/proxy.js';
import { startStub } from '../support/upstream-stub.js';
import { until } from './support/client.js';
import { closing, startPair } from './support/pair.js';
import { CLOSE, closePayload, collect, frame, handshake, TEXT } from './support/websocket.js';
import { openWire, type Wire } from './support/wire.js';

const ACCEPTED =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: accept\r\nSec-WebSocket-Protocol: realtime\r\n\r\n';

/** A client and the upstream's end of one upgraded connection. */
async function connected(fields: readonly string[] = [], env: Record<string, string> = {}) {
  const stub = closing(await startStub());
  let arrived: { request: IncomingMessage; socket: Duplex } | undefined;
  stub.server.on('upgrade', (request, socket) => {
    arrived = { request, socket };
    closing({ close: async () => void socket.destroy() });
    socket.on('error', () => {});
    socket.write(ACCEPTED);
  });
  const proxy = closing(await startProxy({ upstream: stub.url }, { env }));
  const wire = await openWire(proxy.url);
  wire.socket.write(handshake(fields));
  await wire.until(/\r\n\r\n$/);
  if (arrived === undefined) throw new Error('no upgrade arrived');
  return { proxy, stub, wire, ...arrived };
}

function afterHead(wire: Wire): Buffer {
  return Buffer.from(wire.text().slice(wire.text().indexOf('\r\n\r\n') + 4), 'latin1');
}

test('passes an upgrade with authorization, query, subprotocol and all (BerriAI/litellm#8828)', async () => {
  const { wire, request, stub } = await connected([
    'Authorization: Bearer client',
    'Sec-WebSocket-Protocol: realtime, openai-beta.v1',
    'Sec-WebSocket-Extensions: permessage-deflate',
    'Origin: http://there',
    'Cookie: a=1',
    'X-Incontext-Engine: none',
  ]);
  expect(request.url).toBe('/v1/realtime?model=m%2F1&x=');
  expect(request.headers).toMatchObject({
    host: `127.0.0.1:${stub.port}`,
    authorization: 'Bearer client',
    'sec-websocket-protocol': 'realtime, openai-beta.v1',
    'sec-websocket-extensions': 'permessage-deflate',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    origin: 'http://there',
    cookie: 'a=1',
    upgrade: 'websocket',
  });
  expect(request.headers['x-incontext-engine']).toBeUndefined();
  expect(wire.text()).toBe(ACCEPTED);
  wire.socket.destroy();
});

test('removes the path prefix from an upgrade', async () => {
  const { stub, proxy } = await startPair({}, { 'path-prefix': '/llm' });
  const seen: (string | undefined)[] = [];
  stub.server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    seen.push(request.url);
    socket.end(ACCEPTED);
  });
  const wire = await openWire(proxy.url);
  wire.socket.write(handshake().replace('/v1/realtime', '/llm/v1/realtime'));
  await wire.closed;
  wire.socket.destroy();
  expect(seen).toEqual(['/v1/realtime?model=m%2F1&x=']);
});

test('sends the configured key with an upgrade', async () => {
  const env = { INCONTEXT_UPSTREAM_API_KEY: 'sk-upstream', INCONTEXT_API_KEYS: 'key-one' };
  const { wire, request } = await connected(['Authorization: Bearer key-one'], env);
  expect(request.headers.authorization).toBe('Bearer sk-upstream');
  wire.socket.destroy();
});

test('passes frames both ways, byte for byte', async () => {
  const { wire, socket } = await connected();
  const seen = collect(socket);
  const there = [
    frame(TEXT, 'hello'),
    frame(2, Buffer.from([0, 255, 128])),
    frame(9, 'ping'),
    frame(TEXT, 'x'.repeat(60_000)),
  ];
  const back = [
    frame(TEXT, 'answer', false),
    frame(10, 'ping', false),
    frame(2, Buffer.alloc(50_000, 7), false),
  ];
  for (const one of there) wire.socket.write(one);
  for (const one of back) socket.write(one);
  await seen.until(Buffer.concat(there).length);
  await until(() => afterHead(wire).length >= Buffer.concat(back).length);
  expect(seen.bytes().equals(Buffer.concat(there))).toBe(true);
  expect(afterHead(wire).equals(Buffer.concat(back))).toBe(true);
  wire.socket.destroy();
});

test('passes frames that came together with the handshake', async () => {
  const stub = closing(await startStub());
  const first = frame(TEXT, 'early');
  const received: Buffer[] = [];
  stub.server.on('upgrade', (_request, socket: Duplex, head: Buffer) => {
    received.push(head);
    closing({ close: async () => void socket.destroy() });
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    socket.write(Buffer.concat([Buffer.from(ACCEPTED), frame(TEXT, 'early too', false)]));
  });
  const proxy = closing(await startProxy({ upstream: stub.url }));
  const wire = await openWire(proxy.url);
  wire.socket.write(Buffer.concat([Buffer.from(handshake()), first]));
  await wire.until(/early too$/);
  await until(() => Buffer.concat(received).equals(first));
  wire.socket.destroy();
});

test('passes frames that came before the upstream answered the handshake', async () => {
  const stub = closing(await startStub());
  let answer: (() => void) | undefined;
  const received: Buffer[] = [];
  stub.server.on('upgrade', (_request, socket: Duplex) => {
    closing({ close: async () => void socket.destroy() });
    socket.on('data', (chunk: Buffer) => received.push(chunk));
    answer = () => socket.write(ACCEPTED);
  });
  const proxy = closing(await startProxy({ upstream: stub.url }));
  const wire = await openWire(proxy.url);
  wire.socket.write(handshake());
  await until(() => answer !== undefined);
  const frames = [frame(TEXT, 'one'), frame(TEXT, 'x'.repeat(60_000)), frame(TEXT, 'y'.repeat(60_000))];
  for (const one of frames) wire.socket.write(one);
  await new Promise((resolve) => setTimeout(resolve, 100));
  answer?.();
  await until(() => Buffer.concat(received).equals(Buffer.concat(frames)));
  wire.socket.destroy();
});

test.each([1000, undefined, 1001, 4001])('keeps the close code %s of the client', async (code) => {
  const { wire, socket } = await connected();
  const seen = collect(socket);
  const bytes = frame(CLOSE, closePayload(code, code === undefined ? '' : 'why'));
  wire.socket.end(bytes);
  await seen.until(bytes.length);
  await until(() => socket.readableEnded);
  expect(seen.bytes().equals(bytes)).toBe(true);
});

test.each([1000, undefined, 1011, 4001])('keeps the close code %s of the upstream', async (code) => {
  const { wire, socket } = await connected();
  const bytes = frame(CLOSE, closePayload(code, code === undefined ? '' : 'why'), false);
  socket.end(bytes);
  await wire.closed;
  expect(afterHead(wire).equals(bytes)).toBe(true);
  wire.socket.destroy();
});

test('passes everything that an upstream sent before it closed, also to a slow client', async () => {
  const { wire, socket } = await connected();
  wire.socket.pause();
  const large = Buffer.alloc(8 << 20, 7);
  socket.end(large);
  await new Promise((resolve) => setTimeout(resolve, 300));
  wire.socket.resume();
  await wire.closed;
  expect(afterHead(wire).length).toBe(large.length);
  wire.socket.destroy();
});

test('writes one log line for an upgrade, and for one that failed', async () => {
  const { proxy, wire, stub, socket } = await connected();
  wire.socket.destroy();
  socket.destroy();
  await stub.close();
  const second = await openWire(proxy.url);
  second.socket.write(handshake(['Authorization: Bearer secret']));
  await second.closed;
  second.socket.destroy();
  const lines = proxy.logged.filter((line) => line.msg === 'exchange');
  expect(lines).toMatchObject([
    { route: 'upgrade', method: 'GET', status: 101, outcome: 'complete' },
    { route: 'upgrade', method: 'GET', status: 502, outcome: 'upstream_error', cause: 'ECONNREFUSED' },
  ]);
  expect(JSON.stringify(proxy.logged)).not.toMatch(/secret|realtime|127\.0\.0\.1/);
});
