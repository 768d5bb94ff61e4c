import { createConnection } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MissingPackageError, missingPackage } from '../../src/simulator/optional-packages.js';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { type ChatAnswer, chat, chatEvents, chunksOf, post, said } from './ask.js';

let server: TestSimulator;

beforeAll(async () => {
  server = await simulator({
    models: [
      { id: 'large', maxModelLen: 8192, aliases: ['big'] },
      { id: 'small', maxModelLen: 100 },
    ],
    apiKey: 'sekret',
  });
});
afterAll(() => server.close());

const key = { headers: { 'content-type': 'application/json', authorization: 'Bearer sekret' } };

describe('with a key', () => {
  test.each(['/v1/models', '/v1/chat/completions', '/v1/nothing', '/inference/v1/generate'])(
    '%s asks for it',
    async (path) => {
      const answer = await post(server.url + path, {});
      expect([answer.status, await answer.text()]).toEqual([401, '{"error":"Unauthorized"}']);
    },
  );

  test.each(['/health', '/ping', '/version', '/metrics', '/load'])('%s does not', async (path) => {
    expect((await fetch(server.url + path)).status).toBe(200);
  });

  test('/tokenize and /invocations do not either', async () => {
    for (const path of ['/tokenize', '/invocations']) {
      expect((await post(server.url + path, { messages: said('a'), max_tokens: 1 })).status).toBe(200);
    }
  });
});

test('each model has its own length and answers under its first name', async () => {
  const ask = async (model: string): Promise<ChatAnswer> =>
    (await (
      await post(`${server.url}/invocations`, { model, messages: said('a'), max_tokens: 90 })
    ).json()) as ChatAnswer;
  expect((await ask('big')).model).toBe('large');
  expect((await ask('small')).usage.completion_tokens).toBe(90);
  const counted = await post(`${server.url}/tokenize`, { model: 'small', prompt: 'a' });
  expect(await counted.json()).toMatchObject({ max_model_len: 100 });
  expect((await ask('none')).error).toEqual({
    message: 'The model `none` does not exist. Valid aliases: large, big, small.',
    type: 'NotFoundError',
    param: 'model',
    code: 404,
  });
});

test('another method on a known path names the right one', async () => {
  const answer = await fetch(`${server.url}/tokenize`);
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
});

test.each([
  ['a gzip body', gzipSync('{"prompt": "a"}')],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
  ['a depth of ten thousand', Buffer.from('['.repeat(10_000))],
])('%s is refused', async (_what, body) => {
  const answer = await fetch(`${server.url}/tokenize`, { method: 'POST', ...key, body });
  expect([answer.status, await answer.text()]).toEqual([
    400,
    '{"detail":"There was an error parsing the body"}',
  ]);
});

test('duplicate keys, odd keys and big numbers are read as Python reads them', async () => {
  const answer = await post(
    `${server.url}/tokenize`,
    '{"__proto__": 1, "seed": 9007199254740993, "prompt": "x y z", "prompt": "x"}',
  );
  expect(await answer.json()).toMatchObject({ count: 1 });
});

test('integer-like keys and the spelling of numbers reach the template', async () => {
  const tool = (parameters: string): string =>
    `{"messages": [{"role": "user", "content": "a"}], "return_token_strs": true, "tools": [{"type": "function", "function": {"name": "f", "parameters": ${parameters}}}]}`;
  const answer = await post(
    `${server.url}/tokenize`,
    tool('{"b": 1.0, "7": 1e20, "a": 12345678901234567890}'),
  );
  const { token_strs: strings } = (await answer.json()) as { token_strs: string[] };
  expect(strings.join('').replaceAll('Ġ', ' ')).toContain(
    '{"b": 1.0, "7": 1e+20, "a": 12345678901234567890}',
  );
});

test('no tokens are no text', async () => {
  const answer = await post(`${server.url}/detokenize`, { tokens: [] });
  expect([answer.status, await answer.text()]).toEqual([200, '{"prompt":""}']);
});

test('a client that leaves while it sends does no harm', async () => {
  const { port } = server;
  const socket = createConnection(port, '127.0.0.1');
  socket.write('POST /tokenize HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"pro', () =>
    socket.destroy(),
  );
  await new Promise((resolve) => socket.once('close', resolve));
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
});

test('a reasoning parser takes made-up text for thought, unless thinking is off', async () => {
  const thinking = await simulator({ reasoningParser: 'qwen3' });
  const on = await chat(thinking.url, { messages: said('a'), max_tokens: 3 });
  expect(on.choices[0]?.message).toMatchObject({ content: null, reasoning: expect.stringMatching(/\w/) });
  const off = { messages: said('a'), max_tokens: 3, chat_template_kwargs: { enable_thinking: false } };
  const chunks = chunksOf(await chatEvents(thinking.url, off));
  expect(chunks[1]?.choices[0]?.delta.content).toMatch(/\w/);
  await thinking.close();
});

test('a package that is not installed is named', () => {
  const absent = Object.assign(new Error('x'), { code: 'ERR_MODULE_NOT_FOUND' });
  expect(() => missingPackage('@huggingface/jinja')(absent)).toThrow(MissingPackageError);
  expect(() => missingPackage('@huggingface/jinja')(absent)).toThrow('@huggingface/jinja');
  const other = new Error('y');
  expect(() => missingPackage('@huggingface/jinja')(other)).toThrow(other);
});
