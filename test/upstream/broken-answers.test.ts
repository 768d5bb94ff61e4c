import { expect, test } from 'vitest';
import { errorOf, head, open, send } from '../server/support/client.js';
import { chatBody, closing } from '../server/support/pair.js';
import { jsonAnswer, type RawRequest, startRawUpstream } from '../server/support/raw-upstream.js';
import { openWire } from '../server/support/wire.js';
import { startProxy } from '../support/proxy.js';
import { CHAT } from '../support/upstream-stub.js';

async function start(answer: (request: RawRequest) => void) {
  const upstream = closing(await startRawUpstream(answer));
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  return { upstream, proxy };
}

const CALLS = [
  { method: 'POST', path: CHAT, body: chatBody() },
  { method: 'POST', path: '/v1/x', body: 'x' },
  { method: 'GET', path: '/v1/x' },
];

const BREAKS: [string, (request: RawRequest) => void][] = [
  ['closes the connection', ({ socket }) => socket.end()],
  ['resets the connection', ({ socket }) => socket.resetAndDestroy()],
  ['answers with garbage', ({ socket }) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
  ['breaks off in the head', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
  [
    'answers an impossible length',
    ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n'),
  ],
  [
    'upgrades unasked',
    ({ socket }) => socket.end('HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  ],
];

test.each(BREAKS)(
  'answers 502 where the upstream %s, and asks it once (vectorize-io/hindsight#1567)',
  async (_name, answer) => {
    const { upstream, proxy } = await start(answer);
    for (const call of CALLS) {
      const got = await send(proxy.url, call);
      expect(got.status).toBe(502);
      expect(errorOf(got.body)).toEqual({
        message: expect.any(String),
        type: 'api_error',
        param: null,
        code: 'upstream_reset',
      });
      expect(got.body.toString()).not.toContain(String(upstream.port));
    }
    expect(upstream.requests).toHaveLength(CALLS.length);
  },
);

test.each(CALLS)('passes a 503 with retry-after as it is, after one request: $method $path', async (call) => {
  const { upstream, proxy } = await start(({ socket }) => {
    socket.write('HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 9\r\n\r\ntoo busy!');
  });
  const answer = await send(proxy.url, call);
  expect(answer.status).toBe(503);
  expect(answer.headers['retry-after']).toBe('1');
  expect(answer.body.toString()).toBe('too busy!');
  expect(upstream.requests).toHaveLength(1);
});

test.each([
  ['chunked', 'transfer-encoding: chunked', '8\r\ndata: a\n\r\n'],
  ['sized', 'content-length: 1000', 'data: a\n'],
])(
  'breaks the connection of the client where a %s answer breaks off, and invents no end',
  async (_kind, field, part) => {
    const { upstream, proxy } = await start(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${field}\r\n\r\n${part}`);
      setTimeout(() => socket.destroy(), 50);
    });
    for (const path of [CHAT, '/v1/x']) {
      const response = await head(
        open(proxy.url, { method: 'POST', path, body: chatBody({ stream: true }) }),
      );
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      const error = await new Promise((resolve) =>
        response.once('error', resolve).once('end', () => resolve('end')),
      );
      expect(error).toMatchObject({ code: 'ECONNRESET' });
      expect(Buffer.concat(chunks).toString()).toBe('data: a\n');
    }
    expect(upstream.requests).toHaveLength(2);
    const lines = proxy.logged.filter((line) => line.outcome === 'upstream_error');
    expect(lines).toMatchObject([{ status: 200 }, { status: 200 }]);
  },
);

test('resets the connection of an HTTP/1.0 client where an answer breaks off: its end would look proper', async () => {
  const { proxy } = await start(({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n');
    setTimeout(() => socket.destroy(), 50);
  });
  const wire = await openWire(proxy.url);
  const error = new Promise((resolve) =>
    wire.socket.once('error', resolve).once('end', () => resolve('end')),
  );
  wire.socket.write('GET /v1/x HTTP/1.0\r\n\r\n');
  await wire.until(/part$/);
  expect(await error).toMatchObject({ code: 'ECONNRESET' });
});

test('answers the client once although the upstream answers a request twice', async () => {
  const { proxy } = await start(({ socket }) => socket.write(jsonAnswer({ a: 1 }) + jsonAnswer({ b: 2 })));
  const answers = await Promise.all([1, 2, 3].map(() => send(proxy.url, { path: '/v1/x' })));
  for (const answer of answers) expect(JSON.parse(answer.body.toString())).toEqual({ a: 1 });
});
