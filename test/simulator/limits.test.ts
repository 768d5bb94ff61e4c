import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { chat, post, said } from './ask.js';

/** A message whose rendered prompt has exactly so many tokens. */
function promptOf(tokens: number): object[] {
  return said(Array.from({ length: tokens - 8 }, () => 'word').join(' '));
}

const contextLength = 4096;
let recent: TestSimulator;
let old: TestSimulator;

beforeAll(async () => {
  const models = [{ id: 'tiny', maxModelLen: contextLength }];
  recent = await simulator({ vllm: '0.32', models });
  old = await simulator({ vllm: '0.16', models });
});
afterAll(() => Promise.all([recent.close(), old.close()]));

describe('0.32 clamps the cap to what is left', () => {
  test.each([
    [4086, 10, 10],
    [4086, 11, 10],
    [4000, 200, 96],
    [20, 4096, 4076],
  ])('prompt %i, cap %i: %i tokens', async (prompt, cap, written) => {
    const { usage, choices } = await chat(recent.url, { messages: promptOf(prompt), max_tokens: cap });
    expect(usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: written });
    expect(choices[0]?.finish_reason).toBe('length');
  });
});

describe('0.16 refuses what does not fit', () => {
  const rest =
    "However, the model's context length is only 4096 tokens, resulting in a maximum input length of";
  test.each([
    [4086, 11, `You passed 4086 input tokens and requested 11 output tokens. ${rest} 4085 tokens.`],
    [4000, 200, `You passed 3897 input tokens and requested 200 output tokens. ${rest} 3896 tokens.`],
    [4096, 1, `You passed 4096 input tokens and requested 1 output tokens. ${rest} 4095 tokens.`],
    [4100, null, `You passed 4097 input tokens and requested 0 output tokens. ${rest} 4096 tokens.`],
    [4096, null, 'max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)'],
  ])('prompt %i, cap %s', async (prompt, cap, message) => {
    const answer = await chat(old.url, { messages: promptOf(prompt), max_tokens: cap });
    expect(answer.error).toMatchObject({ type: 'BadRequestError', code: 400 });
    expect(answer.error?.message.startsWith(message)).toBe(true);
  });

  test('a cap of the whole context leaves no room for a single character', async () => {
    const answer = await chat(old.url, { messages: promptOf(20), max_tokens: 4096 });
    expect(answer.error?.message).toMatch(
      /^You passed \d+ input characters .* maximum input length of 0 tokens/,
    );
  });

  test('what just fits is answered', async () => {
    const { usage } = await chat(old.url, { messages: promptOf(4086), max_tokens: 10 });
    expect(usage.completion_tokens).toBe(10);
  });
});

test.each([
  [4096, 5],
  [4096, null],
])('0.32 refuses a prompt that fills the context: cap %2$s', async (prompt, cap) => {
  const answer = await chat(recent.url, { messages: promptOf(prompt), max_tokens: cap });
  expect(answer.error).toEqual({
    message: 'max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)',
    type: 'BadRequestError',
    param: 'max_tokens',
    code: 400,
  });
});

test('0.32 names one token more than the limit, however long the prompt is', async () => {
  const answer = await chat(recent.url, { messages: promptOf(5000) });
  expect(answer.error).toEqual({
    message:
      "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=4097)",
    type: 'BadRequestError',
    param: 'input_tokens',
    code: 400,
  });
});

test('0.32 counts characters when there are far too many to tokenise', async () => {
  const answer = await chat(recent.url, { messages: said('x'.repeat(600_000)) });
  expect(answer.error).toMatchObject({ param: 'input_text' });
  expect(answer.error?.message).toMatch(
    /contains 6000\d\d characters \(more than 524288 characters, which is/,
  );
});

test('a refusal of a stream is plain JSON', async () => {
  const answer = await post(`${recent.url}/v1/chat/completions`, { messages: promptOf(5000), stream: true });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/json']);
});

test('token ids that are too many are all counted', async () => {
  const answer = await post(`${recent.url}/v1/completions`, {
    prompt: Array.from({ length: 5000 }, () => 9906),
  });
  expect(((await answer.json()) as { error: { message: string } }).error.message).toContain(
    'your prompt contains 5000 input tokens',
  );
});

test('a count is true even above the limit', async () => {
  const answer = await post(`${recent.url}/tokenize`, { messages: promptOf(6009) });
  expect(await answer.json()).toMatchObject({ count: 6009, max_model_len: 4096 });
});
