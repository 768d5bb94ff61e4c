import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { startProxy } from '../support/proxy.js';
import { json } from '../support/upstream-stub.js';
import { closing, startPair } from './support/pair.js';
import { startRawUpstream } from './support/raw-upstream.js';
import { handshake } from './support/websocket.js';
import { openWire, splitAnswer } from './support/wire.js';

test.each([401, 403, 404])(
  'gives an upstream that refuses an upgrade with %i its own answer',
  async (status) => {
    const { proxy, stub } = await startPair();
    stub.server.on('upgrade', (_request, socket: Duplex) => {
      const body = '{"detail":"own"}';
      socket.end(
        `HTTP/1.1 ${status} Own Phrase\r\nx-own: 1\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
    const wire = await openWire(proxy.url);
    wire.socket.write(handshake());
    await wire.closed;
    wire.socket.destroy();
    const { statusLine, fields, body } = splitAnswer(wire.text());
    expect(statusLine).toBe(`HTTP/1.1 ${status} Own Phrase`);
    expect(fields).toContain('x-own: 1');
    expect(body).toBe('{"detail":"own"}');
  },
);

test('gives an upstream without WebSockets its own answer', async () => {
  const { proxy } = await startPair({
    routes: { '*': (_request, response) => json(response, 404, { detail: 'Not Found' }) },
  });
  const wire = await openWire(proxy.url);
  wire.socket.write(handshake());
  await wire.closed;
  wire.socket.destroy();
  expect(wire.text()).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  expect(wire.text()).toContain('{"detail":"Not Found"}');
});

test('breaks the connection where the answer of a refusing upstream breaks off', async () => {
  const upstream = closing(
    await startRawUpstream(({ socket }) => {
      socket.write('HTTP/1.1 403 Forbidden\r\ncontent-length: 100\r\n\r\npart');
      setTimeout(() => socket.destroy(), 50);
    }),
  );
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  const wire = await openWire(proxy.url);
  wire.socket.write(handshake());
  await wire.closed;
  wire.socket.destroy();
  expect(splitAnswer(wire.text()).body).toBe('part');
});

test('answers an upgrade under /incontext/ itself', async () => {
  const { proxy, stub } = await startPair();
  const wire = await openWire(proxy.url);
  wire.socket.write(
    'GET /%69ncontext/x HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  );
  await wire.closed;
  wire.socket.destroy();
  expect(wire.text()).toMatch(/^HTTP\/1\.1 404 .*"code":"not_found"/s);
  expect(stub.received.every((one) => one.url === '/v1/models')).toBe(true);
});
