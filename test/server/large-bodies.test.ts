import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { imageSample } from '../backends/support/tokenizer-stub.js';
import { CHAT } from '../support/upstream-stub.js';
import { send } from './support/client.js';
import { chatBody, ECHO, startPair } from './support/pair.js';

test.each(['sized', 'chunked'])(
  'streams a %s body over the limit through uninspected (mnfst/llm-gateway#2126)',
  async (kind) => {
    const { stub, proxy } = await startPair({ ...ECHO }, { 'body-limit': '100000' });
    const body = chatBody({ max_tokens: 1_000_000, pad: 'x'.repeat(300_000) });
    const pieces = () => Readable.from(split(body), { objectMode: false });
    const answer = await send(proxy.url, {
      method: 'POST',
      path: CHAT,
      body: kind === 'sized' ? body : pieces(),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'x-incontext-action': 'unchanged',
      'x-incontext-reason': 'body_too_large',
    });
    expect(stub.only(CHAT).body.toString()).toBe(body);
    expect(stub.at('/tokenize')).toEqual([]);
  },
);

test('inspects a body of exactly the limit', async () => {
  const body = chatBody({ max_tokens: 2000 });
  const { proxy } = await startPair({ count: 3000 }, { 'body-limit': String(body.length) });
  const answer = await send(proxy.url, { method: 'POST', path: CHAT, body });
  expect(answer.headers['x-incontext-reason']).toBe('cap_lowered');
});

test('clamps a chat with 20 MB of images (archestra-ai/archestra#1417)', async () => {
  // It counts images itself.
  const count = (body: unknown) => imageSample(JSON.stringify(body)) ?? 3000;
  const { stub, proxy } = await startPair({ count });
  const url = `data:image/png;base64,${'A'.repeat(20 << 20)}`;
  const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  const answer = await send(proxy.url, {
    method: 'POST',
    path: CHAT,
    body: JSON.stringify({ model: 'm', messages, max_tokens: 2000 }),
  });
  expect(answer.status).toBe(200);
  expect(answer.headers['x-incontext-max-tokens']).toBe('1096');
  expect(stub.only(CHAT).body.toString()).toBe(JSON.stringify({ model: 'm', messages, max_tokens: 1096 }));
});

test('bypasses a chat that asks for it', async () => {
  const { stub, proxy } = await startPair({ ...ECHO });
  const body = chatBody({ max_tokens: 1_000_000, message_uid: 'u' });
  const headers = { 'x-incontext-bypass': '1' };
  const answer = await send(proxy.url, { method: 'POST', path: CHAT, headers, body });
  expect(answer.headers).toMatchObject({
    'x-incontext-action': 'bypassed',
    'x-incontext-source': 'none',
    'x-incontext-reason': 'bypass',
  });
  expect(stub.only(CHAT).body.toString()).toBe(body);
  expect(stub.only(CHAT).headers['x-incontext-bypass']).toBeUndefined();
  expect(stub.at('/tokenize')).toEqual([]);
});

function* split(body: string): Generator<string> {
  for (let at = 0; at < body.length; at += 30_000) yield body.slice(at, at + 30_000);
}
