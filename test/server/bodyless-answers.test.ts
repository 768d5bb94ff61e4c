import { expect, test } from 'vitest';
import { startProxy } from '../support/proxy.js';
import { send } from './support/client.js';
import { closing, startPair } from './support/pair.js';
import { startRawUpstream } from './support/raw-upstream.js';
import { exchangeBytes, splitAnswer } from './support/wire.js';

const CLOSE = 'host: x\r\nconnection: close\r\n\r\n';

test('answers HEAD with the length of the upstream and no body', async () => {
  const { proxy } = await startPair({
    routes: {
      'HEAD /v1/x': (_request, response) => response.writeHead(200, { 'content-length': '1234' }).end(),
    },
  });
  const { statusLine, fields, body } = splitAnswer(
    await exchangeBytes(proxy.url, `HEAD /v1/x HTTP/1.1\r\n${CLOSE}`),
  );
  expect(statusLine).toBe('HTTP/1.1 200 OK');
  expect(fields).toContain('content-length: 1234');
  expect(body).toBe('');
});

test.each([
  [204, []],
  [304, ['etag', '"a"', 'content-length', '10']],
] as const)('passes %i without a body', async (status, given) => {
  const { proxy } = await startPair({
    routes: {
      'GET /v1/x': (_request, response) => response.writeHead(status, given as unknown as string[]).end(),
    },
  });
  const { statusLine, fields, body } = splitAnswer(
    await exchangeBytes(proxy.url, `GET /v1/x HTTP/1.1\r\n${CLOSE}`),
  );
  expect(statusLine).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(body).toBe('');
  if (status === 304) expect(fields).toContain('etag: "a"');
  expect(fields.join('\n').toLowerCase()).not.toContain('transfer-encoding');
});

test('passes several answers without a body over one connection', async () => {
  const { stub, proxy } = await startPair({
    routes: { '*': (request, response) => response.writeHead(request.method === 'HEAD' ? 200 : 204).end() },
  });
  const text = await exchangeBytes(
    proxy.url,
    `HEAD /a HTTP/1.1\r\nhost: x\r\n\r\nGET /b HTTP/1.1\r\nhost: x\r\n\r\nHEAD /c HTTP/1.1\r\n${CLOSE}`,
  );
  expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 204', 'HTTP/1.1 200']);
  expect(stub.received.map((one) => one.url)).toEqual(expect.arrayContaining(['/a', '/b', '/c']));
});

test('passes an answer of HTTP/1.0 that ends with its connection', async () => {
  const upstream = closing(
    await startRawUpstream(({ socket }) => socket.end('HTTP/1.0 200 Fine\r\nx-a: 1\r\n\r\nuntil the end')),
  );
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  const answer = await send(proxy.url, { path: '/v1/x' });
  expect(answer).toMatchObject({ status: 200, statusMessage: 'Fine' });
  expect(answer.body.toString()).toBe('until the end');
});

test('passes over informational answers', async () => {
  const upstream = closing(
    await startRawUpstream(({ socket }) =>
      socket.write(
        'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
      ),
    ),
  );
  const proxy = closing(await startProxy({ upstream: upstream.url }));
  expect((await send(proxy.url, { path: '/v1/x' })).body.toString()).toBe('ok');
});

test.each([201, 299, 302, 400, 401, 404, 418, 422, 429, 500, 599])(
  'passes status %i with its phrase, fields and bytes',
  async (status) => {
    const { proxy } = await startPair({
      routes: {
        '*': (_request, response) =>
          response
            .writeHead(status, 'Own Phrase', { 'x-a': '1', location: '/there' })
            .end('{"detail":"as it is"}'),
      },
    });
    for (const path of ['/v1/x', '/v1/chat/completions']) {
      const answer = await send(proxy.url, { method: 'POST', path, body: '{}' });
      expect(answer).toMatchObject({ status, statusMessage: 'Own Phrase' });
      expect(answer.headers).toMatchObject({ 'x-a': '1', location: '/there' });
      expect(answer.body.toString()).toBe('{"detail":"as it is"}');
    }
  },
);
