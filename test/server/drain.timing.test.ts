import { Agent, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { CHAT } from '../support/upstream-stub.js';
import { head, open, readAll, send, sleep, until } from './support/client.js';
import { chatBody, closing, startPair } from './support/pair.js';
import { openWire } from './support/wire.js';

/** The promise is 1 s after the last stream. */
const LIMIT_MS = 3000;

async function startStreaming(flags: Record<string, string> = {}) {
  let upstreamSide: ServerResponse | undefined;
  const pair = await startPair(
    {
      routes: {
        [`POST ${CHAT}`]: (_request, response) => {
          upstreamSide = response;
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write('data: first\n\n');
        },
        'GET /v1/x': (_request, response) => response.end('x'),
      },
    },
    flags,
  );
  await pair.proxy.ready();
  const agent = new Agent({ keepAlive: true });
  closing({ close: async () => agent.destroy() });
  const request = open(pair.proxy.url, {
    method: 'POST',
    path: CHAT,
    body: chatBody({ stream: true }),
    agent,
  });
  const response = await head(request);
  await until(() => upstreamSide !== undefined);
  return { ...pair, agent, response, upstreamSide: upstreamSide as ServerResponse };
}

/** How long `ended` takes from now, in milliseconds. */
async function duration(ended: Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await ended;
  return performance.now() - startedAt;
}

test('a drain says so at once, lets a stream finish, and ends at once then (fastify/fastify#3617)', async () => {
  const { proxy, agent, response, upstreamSide } = await startStreaming();
  await send(proxy.url, { path: '/v1/x', agent });
  let isEnded = false;
  const ended = proxy.drain().then(() => {
    isEnded = true;
  });
  const ready = await send(proxy.url, { path: '/incontext/ready' });
  expect(ready.status).toBe(503);
  expect(JSON.parse(ready.body.toString())).toEqual({ status: 'not_ready', reason: 'draining' });
  expect((await send(proxy.url, { path: '/incontext/live' })).status).toBe(200);
  const body = readAll(response);
  await sleep(500);
  expect(isEnded).toBe(false);
  upstreamSide.write('data: second\n\n');
  upstreamSide.end('data: [DONE]\n\n');
  expect(await duration(ended)).toBeLessThan(LIMIT_MS);
  expect((await body).toString()).toBe('data: first\n\ndata: second\n\ndata: [DONE]\n\n');
  await expect(send(proxy.url, { path: '/incontext/live' })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a drain does not wait for idle connections', async () => {
  const { proxy } = await startPair({ routes: { 'GET /v1/x': (_request, response) => response.end('x') } });
  const agent = new Agent({ keepAlive: true });
  closing({ close: async () => agent.destroy() });
  await send(proxy.url, { path: '/v1/x', agent });
  const unused = await openWire(proxy.url);
  expect(await duration(proxy.drain())).toBeLessThan(LIMIT_MS);
  unused.socket.destroy();
});

test('an answer during a drain closes its connection', async () => {
  const { proxy, upstreamSide, response } = await startStreaming();
  const ended = proxy.drain();
  expect(
    (await send(proxy.url, { path: '/v1/x', agent: new Agent({ keepAlive: true }) })).headers.connection,
  ).toBe('close');
  upstreamSide.end();
  response.resume();
  await ended;
});

test('a drain cuts what is left at its deadline, upstream too', async () => {
  const { stub, proxy, response } = await startStreaming({ 'drain-seconds': '1' });
  const body = readAll(response);
  body.catch(() => {});
  const took = await duration(proxy.drain());
  expect(took).toBeGreaterThan(900);
  expect(took).toBeLessThan(LIMIT_MS);
  await expect(body).rejects.toMatchObject({ code: 'ECONNRESET' });
  await stub.only(CHAT).cut;
});

test('a drain cuts upgraded connections at its deadline', async () => {
  const { stub, proxy } = await startPair({}, { 'drain-seconds': '1' });
  stub.server.on('upgrade', (_request, socket) => {
    closing({ close: async () => void socket.destroy() });
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  });
  const wire = await openWire(proxy.url);
  wire.socket.write(
    'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  );
  await wire.until(/\r\n\r\n$/);
  const took = await duration(proxy.drain());
  expect(took).toBeGreaterThan(900);
  expect(took).toBeLessThan(LIMIT_MS);
  await wire.closed;
  wire.socket.destroy();
});

test('closing ends a drain that is still waiting, without another wait', async () => {
  const { proxy, response } = await startStreaming();
  response.on('error', () => {});
  const drained = proxy.drain();
  await sleep(100);
  expect(await duration(proxy.close())).toBeLessThan(LIMIT_MS);
  expect(await duration(drained)).toBeLessThan(LIMIT_MS);
});
