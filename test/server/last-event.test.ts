import { expect, test } from 'vitest';
import type { TestProxy } from '../support/proxy.js';
import { CHAT } from '../support/upstream-stub.js';
import { head, open, send, until } from './support/client.js';
import { chatBody, startPair } from './support/pair.js';

const PIECE = 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n';
const RESPONSES = '/v1/responses';

/** Gets a stream of these pieces that the server does not end, and leaves when all were read. */
async function leaveAfter(path: string, pieces: readonly string[]): Promise<TestProxy> {
  const { proxy } = await startPair({
    routes: {
      [`POST ${path}`]: async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const piece of pieces) {
          response.write(piece);
          await new Promise((done) => setTimeout(done, 20));
        }
      },
    },
  });
  const request = open(proxy.url, { method: 'POST', path, body: chatBody({ stream: true }) });
  const response = (await head(request)).on('error', () => {});
  let read = '';
  response.on('data', (chunk: Buffer) => {
    read += chunk;
  });
  await until(() => read.length >= pieces.join('').length);
  request.destroy();
  await until(() => proxy.logged.some(({ msg }) => msg === 'exchange'));
  return proxy;
}

const outcomes = ({ logged }: TestProxy) =>
  logged.filter(({ msg }) => msg === 'exchange').map(({ outcome, status }) => `${status} ${outcome}`);

const aborts = async ({ url }: TestProxy) =>
  /incontext_aborts_total\{side="client"\} \d+/.exec(
    (await send(url, { path: '/incontext/metrics' })).body.toString(),
  )?.[0];

test.each([
  ['of a chat', CHAT, [PIECE, 'data: [DONE]\n\n']],
  ['in two pieces', CHAT, [PIECE, 'data: [DO', 'NE]\n\n']],
  ['with other line ends', CHAT, [PIECE, 'data:[DONE]\r\n\r\n']],
  ['of a message', '/v1/messages', [PIECE, 'event: message_stop\ndata: {"type":"message_stop"}\n\n']],
  ['of a response', RESPONSES, [PIECE, 'event: response.completed\ndata: {"type":"response.completed"}\n\n']],
])('a client that leaves after the last event %s has its whole answer', async (_which, path, pieces) => {
  const proxy = await leaveAfter(path, pieces);
  expect(outcomes(proxy)).toEqual(['200 complete']);
  expect(await aborts(proxy)).toBeUndefined();
});

test.each([
  ['before it', CHAT, [PIECE]],
  ['after one that only speaks of it', CHAT, [PIECE, 'data: {"content":"data: [DONE]"}\n\n']],
  ['in the middle of it', CHAT, [PIECE, 'data: [DONE']],
  ['after another end', RESPONSES, [PIECE, 'event: response.output_text.done\ndata: {}\n\n']],
])('a client that leaves %s has not', async (_when, path, pieces) => {
  const proxy = await leaveAfter(path, pieces);
  expect(outcomes(proxy)).toEqual(['200 client_abort']);
  expect(await aborts(proxy)).toBe('incontext_aborts_total{side="client"} 1');
});
