import { describe, expect, test } from 'vitest';
import type { Backend } from '../../src/backends/contract.js';
import { imageSample } from '../backends/support/tokenizer-stub.js';
import { told } from '../support/proxy.js';
import { json, type StubRoute } from '../support/upstream-stub.js';
import { answer, COMPLETIONS, MESSAGES, RESPONSES, start } from './support/endpoints.js';

const KINDS = [
  { path: COMPLETIONS, cap: 'max_tokens', prompt: '"prompt":"q"', noChat: '"prompt":"q"' },
  {
    path: RESPONSES,
    cap: 'max_output_tokens',
    prompt: '"input":"q"',
    noChat: '"input":"q"',
  },
  {
    path: MESSAGES,
    cap: 'max_tokens',
    prompt: '"messages":[{"role":"user","content":"q"}]',
    noChat: '"messages":[{"role":"user","content":[{"type":"document"}]}]',
  },
] as const;

describe.each(KINDS)('$path', ({ path, cap, prompt, noChat }) => {
  const body = (tokens: number, more = '') =>
    `{ "model":"m", "seed":9007199254740993,"${cap}" : ${tokens},${prompt},"x":1.0${more} }`;

  test.each([
    [1095, 1095, 'fits'],
    [1096, 1096, 'fits'],
    [1097, 1096, 'cap_lowered'],
  ])('a cap of %i goes out as %i, and no other byte changes', async (sent, out, reason) => {
    const { stub, post } = await start();
    const response = await post(path, body(sent));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ answered: true });
    expect(stub.only(path).body.toString()).toBe(body(out));
    expect(told(response)).toEqual({
      action: reason === 'fits' ? 'unchanged' : 'clamped',
      source: 'vllm-tokenize',
      reason,
      'prompt-tokens': '3000',
      'original-prompt-tokens': '3000',
      window: '4096',
      'context-length': '4096',
      'max-tokens': String(out),
    });
  });

  test.each([
    [3840, 'cap_lowered'],
    [3841, 'requires_compression'],
  ])('with a prompt of %i and an answer of 4096 wanted: %s', async (count, reason) => {
    const { stub, post } = await start({
      count,
      routes: { [`POST ${MESSAGES}/count_tokens`]: (_r, out) => json(out, 200, { input_tokens: count }) },
    });
    const response = await post(path, body(4096));
    expect(told(response)).toMatchObject({ reason });
    expect(stub.only(path).body.toString()).toBe(body(count === 3840 ? 256 : 4096));
  });

  test('streams a clamped answer', async () => {
    const { post } = await start();
    const response = await post(path, body(4096, ',"stream":true'));
    expect(told(response)).toMatchObject({ action: 'clamped', 'max-tokens': '1096' });
    expect(await response.text()).toBe('data: {"part":1}\n\ndata: {"part":2}\n\ndata: [DONE]\n\n');
  });

  test.each([
    [3000, { action: 'clamped', reason: 'cap_lowered', 'max-tokens': '1096' }],
    [4000, { action: 'unchanged', reason: 'requires_compression' }],
  ])(
    'with an engine, what is no chat has the whole context length as its window for a prompt of %i',
    async (count, facts) => {
      const counts: StubRoute = ({ body: asked }, response) =>
        json(response, 200, { input_tokens: imageSample(asked.toString()) ?? count });
      const { stub, post } = await start(
        { count, routes: { [`POST ${MESSAGES}/count_tokens`]: counts } },
        { engine: 'compressor' },
      );
      expect(told(await post(path, body(4096).replace(prompt, noChat)))).toMatchObject({
        window: '4096',
        ...facts,
      });
      expect(stub.at('/v1/chat/completions')).toHaveLength(0);
    },
  );

  test('is estimated where the tokenizer is out of reach', async () => {
    const down: StubRoute = (_request, response) => json(response, 500, {});
    const { post } = await start({
      routes: { 'POST /tokenize': down, [`POST ${MESSAGES}/count_tokens`]: down },
    });
    const response = await post(path, body(4096));
    expect(told(response)).toMatchObject({ source: 'rough-fallback', reason: 'cap_lowered' });
  });

  test('is estimated with a backend that counts chats only', async () => {
    const asked: unknown[] = [];
    const chatsOnly: Backend = {
      source: 'mine',
      describe: async () => 4096,
      clearCache: () => undefined,
      count: async (request) => {
        asked.push(request);
        return { tokens: 1 };
      },
    };
    const { post } = await start({}, {}, { backend: () => chatsOnly });
    const response = await post(path, body(4096));
    expect(told(response)).toMatchObject({ source: 'rough-fallback', reason: 'cap_lowered' });
    expect(asked).toEqual([]);
  });

  test('is tried once more where the server refuses for overflow', async () => {
    let count = 3000;
    const counts: StubRoute = (_request, response) => json(response, 200, { input_tokens: count });
    const refuseOnce: StubRoute = (request, response) => {
      if (count === 3200) return answer(request, response);
      count = 3200;
      stub.set({ count });
      const message = "This model's maximum context length is 4096 tokens. However, you requested more.";
      return json(response, 400, { type: 'error', error: { type: 'BadRequestError', message } });
    };
    const { stub, post } = await start({
      routes: { [`POST ${path}`]: refuseOnce, [`POST ${MESSAGES}/count_tokens`]: counts },
    });
    const response = await post(path, body(2000));
    expect(response.status).toBe(200);
    expect(told(response)).toMatchObject({ reason: 'overflow_recovered', 'max-tokens': '896' });
    expect(stub.at(path).map((one) => one.body.toString())).toEqual([body(1096), body(896)]);
  });

  test('is named in the log', async () => {
    const { proxy, post } = await start();
    await (await post(path, body(10))).text();
    const route = path.slice('/v1/'.length);
    expect(proxy.logged.find((line) => line.msg === 'exchange')).toMatchObject({ route, reason: 'fits' });
  });
});
