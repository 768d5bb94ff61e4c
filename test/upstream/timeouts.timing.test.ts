import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { type ClientAnswer, errorOf, head, open, send } from '../server/support/client.js';
import { chatBody, closing, startPair } from '../server/support/pair.js';
import { openWire } from '../server/support/wire.js';
import { startProxy } from '../support/proxy.js';
import { CHAT, type StubOptions } from '../support/upstream-stub.js';

const PATHS = [CHAT, '/v1/audio/speech'];

function expectTimeout(answer: ClientAnswer): void {
  expect(answer.status).toBe(504);
  expect(errorOf(answer.body)).toEqual({
    message: expect.any(String),
    type: 'api_error',
    param: null,
    code: 'upstream_timeout',
  });
}

/** Answers after `before` ms, and is silent for `between` ms in the middle of the answer. */
function slow(before: number, between: number): StubOptions {
  const route: NonNullable<StubOptions['routes']>[string] = (_request, response) => {
    setTimeout(() => {
      response.writeHead(200).write('first ');
      setTimeout(() => response.end('last'), between);
    }, before);
  };
  return { routes: Object.fromEntries(PATHS.map((path) => [`POST ${path}`, route])) };
}

test('gives up a connection that does not open in time, with 504', async () => {
  // A handshake that never comes is the part of connecting that can be held up without a network.
  const silent = createServer((socket) => void socket.on('error', () => {}));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  closing({ close: async () => void silent.close() });
  const upstream = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const proxy = closing(await startProxy({ upstream, 'upstream-connect-timeout-seconds': '0.4' }));
  for (const path of PATHS) {
    const startedAt = performance.now();
    expectTimeout(
      await send(proxy.url, { method: 'POST', path, headers: { 'x-incontext-bypass': '1' }, body: '{}' }),
    );
    expect(performance.now() - startedAt).toBeGreaterThan(300);
    expect(performance.now() - startedAt).toBeLessThan(3000);
  }
  const wire = await openWire(proxy.url);
  wire.socket.write(
    'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  );
  await wire.closed;
  wire.socket.destroy();
  expect(wire.text()).toMatch(/^HTTP\/1\.1 504 /);
});

test.each(PATHS)(
  'gives up an answer of %s whose head does not come in the configured time, with 504',
  async (path) => {
    const { stub, proxy } = await startPair(slow(5000, 0), { 'upstream-headers-timeout-seconds': '0.4' });
    const startedAt = performance.now();
    expectTimeout(await send(proxy.url, { method: 'POST', path, body: chatBody() }));
    expect(performance.now() - startedAt).toBeGreaterThan(300);
    expect(performance.now() - startedAt).toBeLessThan(3000);
    await stub.only(path).cut;
    expect(stub.at(path)).toHaveLength(1);
  },
);

test('gives up an upgrade whose answer does not come in the configured time, with 504', async () => {
  const { stub, proxy } = await startPair({}, { 'upstream-headers-timeout-seconds': '0.4' });
  stub.server.on('upgrade', (_request, socket) =>
    socket
      .on('error', () => {})
      .on('end', () => socket.end())
      .resume(),
  );
  const wire = await openWire(proxy.url);
  wire.socket.write(
    'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  );
  await wire.closed;
  wire.socket.destroy();
  expect(wire.text()).toMatch(/^HTTP\/1\.1 504 /);
});

test.each(PATHS)('cuts an answer of %s that is silent for longer than configured', async (path) => {
  const { proxy } = await startPair(slow(0, 5000), { 'upstream-body-timeout-seconds': '0.4' });
  const response = await head(open(proxy.url, { method: 'POST', path, body: chatBody() }));
  const startedAt = performance.now();
  const error = await new Promise((resolve) =>
    response
      .resume()
      .once('error', resolve)
      .once('end', () => resolve('end')),
  );
  expect(error).toMatchObject({ code: 'ECONNRESET' });
  expect(performance.now() - startedAt).toBeLessThan(3000);
});

// The client of undici checks its timers every second: a limit that was read as milliseconds would show within three.
test.each(PATHS)(
  'waits for a silent upstream at %s without limit where none is configured (earendil-works/pi#3715)',
  async (path) => {
    const { proxy } = await startPair(slow(3000, 3000));
    const answer = await send(proxy.url, { method: 'POST', path, body: chatBody() });
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toBe('first last');
  },
);
