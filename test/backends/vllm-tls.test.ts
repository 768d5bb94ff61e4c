import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackendContext } from '../../src/backends/contract.js';
import { callOf, contextFor, failed, failureOf, HELLO, requestOf, vllm } from './support/contexts.js';
import { counted } from './support/tokenizer-stub.js';

const pem = (name: string) => readFileSync(new URL(`./fixtures/${name}.pem`, import.meta.url), 'utf8');
let server: Server;
let url = '';

beforeAll(async () => {
  server = createServer({ cert: pem('tls-cert'), key: pem('tls-key') }, (request, response) => {
    request.resume().on('end', () => counted(response, 5));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const countOver = (tls: BackendContext['tls']) =>
  vllm(contextFor(url, {}, { tls })).count(requestOf(HELLO), callOf());

test('an unknown certificate is refused', async () => {
  expect(await failureOf(countOver({ ca: undefined, insecure: false }))).toEqual(failed('unreachable'));
});

test('a certificate of the configured authority is accepted', async () => {
  expect(await countOver({ ca: pem('tls-cert'), insecure: false })).toMatchObject({ tokens: 5 });
});

test('insecure accepts any certificate', async () => {
  expect(await countOver({ ca: undefined, insecure: true })).toMatchObject({ tokens: 5 });
});

test('a handshake that never ends costs the connect timeout', async () => {
  const silent = createTcpServer((socket) => socket.resume().on('error', () => {}));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const context = contextFor(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  const backend = vllm({ ...context, connectTimeoutSeconds: 0.2 });
  expect(await failureOf(backend.count(requestOf(HELLO), callOf()))).toEqual(failed('timeout'));
  await backend.close?.();
  await new Promise((resolve) => silent.close(resolve));
});
