import { expect, test } from 'vitest';
import { CHAT, type StubOptions } from '../support/upstream-stub.js';
import { head, open, send, settled, sleep } from './support/client.js';
import { chatBody, startPair } from './support/pair.js';

const ODD =
  ': ping\n\ndata: {"a":"\u{1f600}\u00e9"}\r\n\r\n: \r\nevent: x\rdata: 1\n\n\n\ndata: [DONE]\ndata: no last newline';

function streaming(bytes: Buffer, fields: Record<string, string> = {}): StubOptions {
  const route: NonNullable<StubOptions['routes']>[string] = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...fields });
    for (let at = 0; at < bytes.length; at += 3) {
      response.write(bytes.subarray(at, at + 3));
      await sleep(1);
    }
    response.end();
  };
  return { routes: { [`POST ${CHAT}`]: route, 'POST /v1/audio/speech': route } };
}

test.each([CHAT, '/v1/audio/speech'])(
  'passes a stream of %s byte for byte, whatever its pieces split (confidential-dot-ai/c8s#140)',
  async (path) => {
    const { proxy } = await startPair(streaming(Buffer.from(ODD)));
    const answer = await send(proxy.url, { method: 'POST', path, body: chatBody({ stream: true }) });
    expect(answer.body.equals(Buffer.from(ODD))).toBe(true);
  },
);

test('passes bytes that are no UTF-8', async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x0a]);
  const { proxy } = await startPair(streaming(bytes));
  const answer = await send(proxy.url, { method: 'POST', path: CHAT, body: chatBody({ stream: true }) });
  expect(answer.body.equals(bytes)).toBe(true);
});

test('asks a buffering proxy in front not to hold an intercepted stream back', async () => {
  const { proxy } = await startPair(streaming(Buffer.from('data: x\n\n')));
  const chat = await send(proxy.url, { method: 'POST', path: CHAT, body: chatBody({ stream: true }) });
  expect(chat.headers['x-accel-buffering']).toBe('no');
  const passed = await send(proxy.url, { method: 'POST', path: '/v1/audio/speech', body: '{}' });
  expect(passed.headers['x-accel-buffering']).toBeUndefined();
});

test("leaves the upstream's own word on buffering", async () => {
  const { proxy } = await startPair(streaming(Buffer.from('data: x\n\n'), { 'X-Accel-Buffering': 'yes' }));
  const answer = await send(proxy.url, { method: 'POST', path: CHAT, body: chatBody({ stream: true }) });
  expect(answer.rawHeaders.filter((name) => name.toLowerCase() === 'x-accel-buffering')).toHaveLength(1);
  expect(answer.headers['x-accel-buffering']).toBe('yes');
});

test('says nothing of buffering with an answer that is no stream', async () => {
  const { proxy } = await startPair();
  const answer = await send(proxy.url, { method: 'POST', path: CHAT, body: chatBody() });
  expect(answer.status).toBe(200);
  expect(answer.headers['x-accel-buffering']).toBeUndefined();
});

test.each([CHAT, '/v1/audio/speech'])(
  'takes no more of an answer of %s than the client does, so that memory stays constant',
  async (path) => {
    const piece = Buffer.alloc(1 << 20, 'x');
    let given = 0;
    const { proxy } = await startPair({
      routes: {
        [`POST ${path}`]: async (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (; given < 200; given += 1) {
            if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve));
          }
          response.end();
        },
      },
    });
    const response = await head(open(proxy.url, { method: 'POST', path, body: chatBody({ stream: true }) }));
    response.pause();
    await settled(() => given);
    // What the sockets' own buffers hold on the way.
    expect(given).toBeLessThan(40);
    let size = 0;
    for await (const chunk of response) size += (chunk as Buffer).length;
    expect(size).toBe(200 << 20);
  },
);
