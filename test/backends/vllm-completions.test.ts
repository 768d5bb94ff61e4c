import { describe, expect, test } from 'vitest';
import { callOf, contextFor, failed, failureOf, requestOf, vllm } from './support/contexts.js';
import { counted, json, listen } from './support/tokenizer-stub.js';
import { OPEN, vllmServer } from './support/vllm-server.js';

const completion = callOf({ ...OPEN, path: '/v1/completions' });

describe('a completion', () => {
  test.each([
    ['token ids are their own count: no call (bug case 71)', [1, 2, 3], 3, 0],
    ['of lists of token ids the longest counts', [[1], [4, 5], []], 2, 0],
    ['a text is one call', 'abcde', 5, 1],
    ['of several texts the largest counts, wherever it stands', ['a', 'abcdefgh', 'abc'], 8, 3],
    ['equal texts are one call', ['abc', 'abc', 'abc'], 3, 1],
  ])('%s', async (_what, prompt, tokens, calls) => {
    const stub = await vllmServer();
    const counts = await vllm(contextFor(stub.url)).count(requestOf({ model: 'm', prompt }), completion);
    expect(counts).toEqual({ tokens, contextLength: calls === 0 ? undefined : 65_536 });
    expect(stub.arrived).toHaveLength(calls);
  });

  test('is tokenized in its own bytes, with the special tokens that the request asks for', async () => {
    const stub = await vllmServer();
    const backend = vllm(contextFor(stub.url));
    const count = (body: string) => backend.count(requestOf(body), completion);
    await count('{"prompt": "a\\u00e9", "model": "m", "max_tokens": 5}');
    await count('{"prompt": ["a\\u00e9"], "model": "m", "add_special_tokens": false, "stream": true}');
    expect(stub.arrived.map(({ path, body }) => `${path} ${body}`)).toEqual([
      '/tokenize {"model":"m","prompt":"a\\u00e9"}',
      '/tokenize {"model":"m","add_special_tokens":false,"prompt":"a\\u00e9"}',
    ]);
  });

  test('of many prompts asks for a few at a time', async () => {
    let open = 0;
    let most = 0;
    const stub = await listen((answer) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        counted(answer, 3);
      }, 5);
    });
    const prompt = Array.from({ length: 20 }, (_one, i) => `prompt ${i}`);
    await vllm(contextFor(stub.url)).count(requestOf({ prompt }), completion);
    expect(stub.arrived).toHaveLength(20);
    expect(most).toBe(4);
  });

  test('one prompt that cannot be counted ends the counting of all', async () => {
    const stub = await listen((answer, _arrived, i) =>
      i === 0 ? json(answer, {}, 400) : counted(answer, 3),
    );
    const prompt = Array.from({ length: 50 }, (_one, i) => `prompt ${i}`);
    const count = vllm(contextFor(stub.url)).count(requestOf({ prompt }), completion);
    expect(await failureOf(count)).toEqual(failed('status'));
    expect(stub.arrived.length).toBeLessThan(15);
  });

  test('truncate_prompt_tokens holds for each prompt, token ids too', async () => {
    const stub = await vllmServer();
    const backend = vllm(contextFor(stub.url));
    for (const prompt of [
      ['abcdef', 'abcdefgh'],
      [1, 2, 3, 4, 5, 6],
    ]) {
      const counts = await backend.count(requestOf({ prompt, truncate_prompt_tokens: 4 }), completion);
      expect(counts.tokens).toBe(4);
    }
  });

  test.each([
    [{ prompt: [] }],
    [{ prompt: ['a', [1]] }],
    [{ prompt: [1.5] }],
    [{ prompt: Array.from({ length: 257 }, (_one, i) => `prompt ${i}`) }],
    [{ prompt: 'a', kv_transfer_params: { prompt_token_ids: [1] } }],
  ])('%j is none that is counted', async (body) => {
    const stub = await vllmServer();
    const count = vllm(contextFor(stub.url)).count(requestOf(body), completion);
    expect(await failureOf(count)).toEqual(failed('unsupported'));
    expect(stub.arrived).toHaveLength(0);
  });
});
