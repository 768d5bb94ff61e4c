import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { startProxy, type TestProxy } from '../support/proxy.js';
import { CHAT } from '../support/upstream-stub.js';
import { head, open, send, sleep, until } from './support/client.js';
import { chatBody, closing, startPair } from './support/pair.js';
import { type RawRequest, startRawUpstream } from './support/raw-upstream.js';
import { openWire } from './support/wire.js';

/** The promise is 100 ms; three times that leaves room for a busy machine. */
const LIMIT_MS = 300;

const hanging: ServerResponse[] = [];

afterEach(() => {
  for (const response of hanging.splice(0)) response.destroy();
});

const hang = (_request: unknown, response: ServerResponse) => void hanging.push(response);

async function expectClientAbort(proxy: TestProxy): Promise<void> {
  const lines = () => proxy.logged.filter((line) => line.msg === 'exchange');
  await until(() => lines().length > 0);
  expect(lines()).toMatchObject([{ outcome: 'client_abort' }]);
  const metrics = (await send(proxy.url, { path: '/incontext/metrics' })).body.toString();
  expect(metrics).toContain('incontext_aborts_total{side="client"} 1');
  expect(metrics).not.toContain('incontext_aborts_total{side="upstream"}');
  expect(metrics).toContain('incontext_in_flight 0');
}

test('ends the count when the client goes meanwhile, and forwards nothing (vllm-project/vllm#54947)', async () => {
  const { stub, proxy } = await startPair({ routes: { 'POST /tokenize': hang } });
  const request = open(proxy.url, { method: 'POST', path: CHAT, body: chatBody() }).on('error', () => {});
  await until(() => stub.at('/tokenize').length === 1);
  const goneAt = performance.now();
  request.destroy();
  expect((await stub.only('/tokenize').cut) - goneAt).toBeLessThan(LIMIT_MS);
  await expectClientAbort(proxy);
  expect(stub.at(CHAT)).toEqual([]);
});

test.each([CHAT, '/v1/audio/speech', '/a/../b'])(
  'ends a generation at %s when the client goes before its head (fastify/fastify-reply-from#424)',
  async (path) => {
    const { stub, proxy } = await startPair({ routes: { [`POST ${path}`]: hang } });
    const request = open(proxy.url, { method: 'POST', path, body: chatBody() }).on('error', () => {});
    await until(() => stub.at(path).length === 1);
    const goneAt = performance.now();
    request.destroy();
    expect((await stub.only(path).cut) - goneAt).toBeLessThan(LIMIT_MS);
    await expectClientAbort(proxy);
    expect(stub.at(path)).toHaveLength(1);
  },
);

test.each([CHAT, '/v1/audio/speech'])(
  'ends a stream at %s when the client goes in the middle',
  async (path) => {
    const { stub, proxy } = await startPair({
      routes: {
        [`POST ${path}`]: (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const timer = setInterval(() => response.write('data: x\n\n'), 20);
          response.once('close', () => clearInterval(timer));
        },
      },
    });
    const request = open(proxy.url, { method: 'POST', path, body: chatBody({ stream: true }) });
    const response = (await head(request)).on('error', () => {});
    await new Promise((resolve) => response.once('data', resolve));
    const goneAt = performance.now();
    request.destroy();
    expect((await stub.only(path).cut) - goneAt).toBeLessThan(LIMIT_MS);
    await expectClientAbort(proxy);
  },
);

test('ends a silent stream when the client goes', async () => {
  const { stub, proxy } = await startPair({
    routes: {
      [`POST ${CHAT}`]: (_request, response) => {
        hanging.push(response);
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      },
    },
  });
  const request = open(proxy.url, { method: 'POST', path: CHAT, body: chatBody({ stream: true }) });
  (await head(request)).on('error', () => {});
  const goneAt = performance.now();
  request.destroy();
  expect((await stub.only(CHAT).cut) - goneAt).toBeLessThan(LIMIT_MS);
});

test('forwards nothing of an intercepted request whose client goes during the upload', async () => {
  const { stub, proxy } = await startPair();
  const wire = await openWire(proxy.url);
  wire.socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"messages":[`);
  await sleep(100);
  wire.socket.destroy();
  await expectClientAbort(proxy);
  expect(stub.at(CHAT)).toEqual([]);
  expect(stub.at('/tokenize')).toEqual([]);
});

test('ends a passed request when the client goes during the upload', async () => {
  let cutAt: number | undefined;
  const arrived: RawRequest[] = [];
  const upstream = closing(
    await startRawUpstream((request) => {
      arrived.push(request);
      request.socket.once('close', () => {
        cutAt = performance.now();
      });
    }),
  );
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  const body = Readable.from(endless(), { objectMode: false });
  const request = open(proxy.url, { method: 'POST', path: '/v1/files', body }).on('error', () => {});
  await until(() => arrived.length === 1);
  const goneAt = performance.now();
  request.destroy();
  await until(() => cutAt !== undefined);
  expect((cutAt as number) - goneAt).toBeLessThan(LIMIT_MS);
  await expectClientAbort(proxy);
});

test('forwards nothing of a small passed request whose client goes during the upload', async () => {
  const { stub, proxy } = await startPair();
  const wire = await openWire(proxy.url);
  wire.socket.write('POST /v1/x HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\npart');
  await sleep(100);
  wire.socket.destroy();
  await expectClientAbort(proxy);
  expect(stub.at('/v1/x')).toEqual([]);
});

test.each(['', 'a frame that came early'])(
  'ends an upgrade when the client goes before its answer: %j',
  async (early) => {
    const { stub, proxy } = await startPair();
    let cutAt: number | undefined;
    let arrived = false;
    stub.server.on('upgrade', (_request, socket) => {
      arrived = true;
      socket.resume();
      socket.once('end', () => {
        cutAt = performance.now();
        socket.destroy();
      });
    });
    const wire = await openWire(proxy.url);
    wire.socket.write(
      'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    );
    await until(() => arrived);
    wire.socket.write(early);
    await sleep(50);
    const goneAt = performance.now();
    wire.socket.destroy();
    await until(() => cutAt !== undefined);
    expect((cutAt as number) - goneAt).toBeLessThan(LIMIT_MS);
    await expectClientAbort(proxy);
  },
);

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) {
    yield Buffer.alloc(1000);
    await sleep(5);
  }
}
