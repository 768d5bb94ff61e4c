import { expect, test } from 'vitest';
import { CHAT } from '../support/upstream-stub.js';
import { chatBody, ECHO, startPair } from './support/pair.js';
import { exchangeBytes, openWire } from './support/wire.js';

const H2C =
  'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n';
const LAST = 'GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
const TOO_MUCH = chatBody({ max_tokens: 2000 });

test('clamps a chat of a client that offers HTTP/2, as that of Java does (Kludex/uvicorn#2722, vllm-project/vllm#57203)', async () => {
  const { stub, proxy } = await startPair({ count: 3000 });
  const request = `POST ${CHAT} HTTP/1.1\r\nhost: x\r\n${H2C}content-length: ${TOO_MUCH.length}\r\n\r\n${TOO_MUCH}`;
  const text = await exchangeBytes(proxy.url, request + LAST);
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(text).toContain('x-incontext-max-tokens: 1096');
  expect(stub.only(CHAT).body.toString()).toBe(chatBody({ max_tokens: 1096 }));
  expect(stub.only(CHAT).headers.upgrade).toBeUndefined();
  expect(stub.only(CHAT).headers['http2-settings']).toBeUndefined();
  expect(stub.at('/last')).toHaveLength(1);
});

test('reads the body of such a request that comes in pieces', async () => {
  const { stub, proxy } = await startPair({ count: 3000 });
  const wire = await openWire(proxy.url);
  wire.socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: x\r\n${H2C}transfer-encoding: chunked\r\n\r\n`);
  for (const piece of [TOO_MUCH.slice(0, 10), TOO_MUCH.slice(10)]) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    wire.socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
  }
  wire.socket.write(`0\r\n\r\n${LAST}`);
  await wire.closed;
  expect(stub.only(CHAT).body.toString()).toBe(chatBody({ max_tokens: 1096 }));
});

test.each([
  ['GET', 'h2c'],
  ['DELETE', 'tls/1.0'],
  ['POST', 'websocket'],
])('passes a %s that asks for %s as the ordinary request that it is', async (method, protocol) => {
  const { stub, proxy } = await startPair(ECHO);
  const request = `${method} /v1/x?a=%2F HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: ${protocol}\r\nx-a: 1\r\n\r\n`;
  const text = await exchangeBytes(proxy.url, request + LAST);
  expect(text.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  expect(stub.only('/v1/x')).toMatchObject({ method, url: '/v1/x?a=%2F' });
  expect(stub.only('/v1/x').headers['x-a']).toBe('1');
});
