import { expect, test } from 'vitest';
import { CHAT } from '../support/upstream-stub.js';
import { chatBody, ECHO, startPair } from './support/pair.js';
import { openWire, splitAnswer } from './support/wire.js';

const LARGE = chatBody({ max_tokens: 1_000_000, pad: 'x'.repeat(1_500_000) });

test.each(['/v1/x', CHAT])(
  'tells a client that waits with 1.5 MB to go on, and answers it at %s (nodejs/undici#197)',
  async (path) => {
    const { stub, proxy } = await startPair(path === CHAT ? { count: 3000 } : ECHO);
    const wire = await openWire(proxy.url);
    wire.socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: ${LARGE.length}\r\n\r\n`,
    );
    await wire.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    wire.socket.write(LARGE);
    await wire.closed;
    wire.socket.destroy();
    const answer = splitAnswer(wire.text().replace('HTTP/1.1 100 Continue\r\n\r\n', ''));
    expect(answer.statusLine).toBe('HTTP/1.1 200 OK');
    expect(stub.only(path).headers.expect).toBeUndefined();
    expect(stub.only(path).body.length).toBe(path === CHAT ? LARGE.length - 3 : LARGE.length);
  },
);

test.each(['/v1/x', CHAT])('forwards a request with an expectation of another kind to %s', async (path) => {
  const { stub, proxy } = await startPair({ ...ECHO });
  const wire = await openWire(proxy.url);
  wire.socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: a-miracle\r\ncontent-length: 2\r\n\r\n{}`,
  );
  await wire.closed;
  expect(wire.text()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(stub.only(path).body.toString()).toBe('{}');
});
