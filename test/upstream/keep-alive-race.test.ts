import { expect, test } from 'vitest';
import { errorOf, send } from '../server/support/client.js';
import { chatBody, closing } from '../server/support/pair.js';
import { jsonAnswer, type RawRequest, startRawUpstream } from '../server/support/raw-upstream.js';
import { startProxy } from '../support/proxy.js';
import { CHAT } from '../support/upstream-stub.js';
import { OWN_CERTIFICATE } from './support/certificate.js';

const CALLS = [
  { method: 'POST', path: CHAT, body: chatBody() },
  { method: 'POST', path: '/v1/audio/speech', body: '{"prompt":"p"}' },
  { method: 'GET', path: '/v1/x' },
];

/** Answers the first request of every connection, and does `onReuse` with the second. */
async function start(onReuse: (request: RawRequest) => void, tls?: { key: string; cert: string }) {
  const upstream = closing(
    await startRawUpstream((request) => {
      if (request.nth === 1) setTimeout(() => request.socket.write(jsonAnswer({ ok: true })), 20);
      else onReuse(request);
    }, tls),
  );
  const flags = tls === undefined ? undefined : { 'upstream-insecure': 'true' };
  const proxy = closing(await startProxy({ upstream: upstream.url, ...flags }));
  return { upstream, proxy };
}

test.each(CALLS)(
  'sends $method $path once more where a kept connection closes without a byte (nodejs/undici#583)',
  async (call) => {
    for (const onReuse of [
      ({ socket }: RawRequest) => socket.destroy(),
      ({ socket }: RawRequest) => socket.end(),
      ({ socket }: RawRequest) => socket.resetAndDestroy(),
    ]) {
      const { upstream, proxy } = await start(onReuse);
      expect((await send(proxy.url, call)).status).toBe(200);
      expect((await send(proxy.url, call)).status).toBe(200);
      expect(upstream.requests.map(({ nth }) => nth)).toEqual([1, 2, 1]);
      expect(upstream.requests[2]?.body.equals(upstream.requests[1]?.body as Buffer)).toBe(true);
    }
  },
);

test('sends a request once more over TLS too', async () => {
  const { upstream, proxy } = await start(({ socket }) => socket.end(), OWN_CERTIFICATE);
  for (let i = 0; i < 2; i += 1) {
    expect((await send(proxy.url, CALLS[0] as (typeof CALLS)[0])).status).toBe(200);
  }
  expect(upstream.requests.map(({ nth }) => nth)).toEqual([1, 2, 1]);
});

test('sends a request once more on a connection that was never used, although other kept ones are there', async () => {
  const { upstream, proxy } = await start(({ socket }) => socket.destroy());
  // Requests side by side leave several connections behind.
  await Promise.all([1, 2, 3, 4].map(() => send(proxy.url, CALLS[0] as (typeof CALLS)[0])));
  expect(upstream.requests.map(({ nth }) => nth)).toEqual([1, 1, 1, 1]);
  for (let i = 0; i < 6; i += 1) {
    expect((await send(proxy.url, CALLS[0] as (typeof CALLS)[0])).status).toBe(200);
  }
  const later = upstream.requests.slice(4).map(({ nth }) => nth);
  expect(later.slice(0, 2)).toEqual([2, 1]);
  expect(later.filter((nth) => nth === 1)).toHaveLength(6);
});

test('does not send a request once more after the first byte of an answer', async () => {
  const { upstream, proxy } = await start(({ socket }) => socket.end('H'));
  for (const call of CALLS) {
    await send(proxy.url, call);
    const answer = await send(proxy.url, call);
    expect(answer.status).toBe(502);
    expect(errorOf(answer.body).code).toBe('upstream_reset');
  }
  expect(upstream.requests.map(({ nth }) => nth)).toEqual([1, 2, 1, 2, 1, 2]);
});

test('sends a request once more only once', async () => {
  let isDown = false;
  const upstream = closing(
    await startRawUpstream(({ socket }) => {
      if (isDown) socket.destroy();
      else socket.write(jsonAnswer({}));
    }),
  );
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  await send(proxy.url, CALLS[0] as (typeof CALLS)[0]);
  isDown = true;
  expect((await send(proxy.url, CALLS[0] as (typeof CALLS)[0])).status).toBe(502);
  expect(upstream.requests.map(({ nth }) => nth)).toEqual([1, 2, 1]);
});

test('does not send a request once more that the upstream was slow to answer on a fresh connection', async () => {
  const upstream = closing(await startRawUpstream(({ socket }) => setTimeout(() => socket.destroy(), 100)));
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  for (const call of CALLS) expect((await send(proxy.url, call)).status).toBe(502);
  expect(upstream.requests).toHaveLength(CALLS.length);
});
