import { expect, test } from 'vitest';
import { errorOf, send } from '../server/support/client.js';
import { chatBody, closing } from '../server/support/pair.js';
import { openWire } from '../server/support/wire.js';
import { startProxy } from '../support/proxy.js';
import { CHAT, startStub } from '../support/upstream-stub.js';
import { OWN_CERTIFICATE, pemPath } from './support/certificate.js';

async function start(flags: Record<string, string>) {
  const stub = closing(await startStub({ count: 3000, tls: OWN_CERTIFICATE }));
  stub.server.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nframes');
  });
  const proxy = closing(await startProxy({ upstream: stub.url, ...flags }));
  return { stub, proxy };
}

async function upgrade(url: string): Promise<string> {
  const wire = await openWire(url);
  wire.socket.write(
    'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  );
  await wire.closed;
  wire.socket.destroy();
  return wire.text();
}

test.each([
  ['a certificate that nobody vouches for', {}],
  ['a certificate that another authority should vouch for', { 'upstream-ca': pemPath('other-cert') }],
])('refuses an upstream with %s', async (_name, flags) => {
  const { stub, proxy } = await start(flags);
  for (const path of [CHAT, '/v1/x']) {
    const answer = await send(proxy.url, { method: 'POST', path, body: chatBody() });
    expect(answer.status).toBe(502);
    expect(errorOf(answer.body).code).toBe('upstream_unreachable');
  }
  expect(await upgrade(proxy.url)).toMatch(/^HTTP\/1\.1 502 /);
  expect((await send(proxy.url, { path: '/incontext/ready' })).status).toBe(503);
  expect(stub.received).toEqual([]);
});

test.each([
  ['its authority is given', { 'upstream-ca': pemPath('own-cert') }],
  ['the operator says so', { 'upstream-insecure': 'true' }],
])('takes an upstream with a certificate of its own where %s', async (_name, flags) => {
  const { stub, proxy } = await start(flags);
  await proxy.ready();
  const body = chatBody({ max_tokens: 2000 });
  const answer = await send(proxy.url, { method: 'POST', path: CHAT, body });
  expect(answer.status).toBe(200);
  expect(answer.headers['x-incontext-max-tokens']).toBe('1096');
  expect((await send(proxy.url, { path: '/v1/models' })).status).toBe(200);
  expect(await upgrade(proxy.url)).toMatch(/^HTTP\/1\.1 101 .*\r\n\r\nframes$/s);
  expect(stub.only(CHAT).headers.host).toBe(`127.0.0.1:${stub.port}`);
});
