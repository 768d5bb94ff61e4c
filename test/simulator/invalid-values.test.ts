import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { type ChatAnswer, post, said } from './ask.js';

let recent: TestSimulator;
let old: TestSimulator;

beforeAll(async () => {
  [recent, old] = await Promise.all([simulator({ vllm: '0.32' }), simulator({ vllm: '0.16' })]);
});
afterAll(() => Promise.all([recent.close(), old.close()]));

interface Answer extends ChatAnswer {
  readonly status: number;
}

async function ask(url: string, path: string, body: object | string): Promise<Answer> {
  const answer = await post(url + path, body);
  return { status: answer.status, ...((await answer.json()) as ChatAnswer) };
}

const hello = said('hello');
const tools = [{ type: 'function', function: { name: 'look' } }];

describe('a chat is refused for', () => {
  test.each([
    [{ messages: [{ role: 'user', content: { text: 'a' } }] }, 'ValidatorIterator'],
    [{ messages: [{ role: 'odd', content: { text: 'a' } }] }, 'Input should be a valid string'],
    [{ messages: [{ role: 'assistant', content: 'a', tool_calls: 'b' }] }, 'Input should be iterable'],
    [{ model: 5 }, 'Input should be a valid string'],
    [{ stop: 5 }, 'Input should be a valid list'],
    [{ stop: [5] }, 'Input should be a valid string'],
    [{ stop: '' }, 'stop cannot contain an empty string.'],
    [{ stop: ['a', ''] }, 'stop cannot contain an empty string.'],
    [{ stop_token_ids: 'a' }, 'Input should be a valid list'],
    [{ top_logprobs: 3 }, 'when using `top_logprobs`, `logprobs` must be set to true.'],
    [{ logprobs: true, top_logprobs: -2 }, '`top_logprobs` must be a positive value or -1.'],
    [{ logprobs: true, top_logprobs: 21 }, 'Requested sample logprobs of 21'],
    [{ tools, tool_choice: 'foo' }, 'Invalid value for `tool_choice`: foo!'],
    [{ tools, tool_choice: {} }, 'Expected field `function` in `tool_choice`'],
    [{ top_p: 1.5 }, 'top_p must be in (0, 1], got 1.5.'],
    [{ top_p: 0 }, 'top_p must be in (0, 1], got 0.0.'],
    [{ min_p: 2 }, 'min_p must be in [0, 1], got 2.0.'],
    [{ top_k: -2 }, 'top_k must be 0 (disable), or at least 1, got -2.'],
    [{ presence_penalty: 3 }, 'presence_penalty must be in [-2, 2], got 3.0.'],
    [{ frequency_penalty: -2.5 }, 'frequency_penalty must be in [-2, 2], got -2.5.'],
    [{ min_tokens: -1 }, 'min_tokens must be greater than or equal to 0, got -1.'],
    [{ response_format: 'json' }, 'Input should be a valid dictionary'],
    [{ response_format: { type: 'xml' } }, "Input should be 'text'"],
    [{ response_format: { type: 'json_schema' } }, 'Field required'],
    [{ chat_template_kwargs: [1] }, 'Input should be a valid dictionary'],
    [{ logit_bias: [1] }, 'Input should be a valid dictionary'],
    [{ cache_salt: '' }, "Parameter 'cache_salt' must be a non-empty string"],
  ])('%j', async (members, words) => {
    for (const { url } of [recent, old]) {
      const answer = await ask(url, '/v1/chat/completions', { messages: hello, max_tokens: 2, ...members });
      expect(answer.status).toBe(400);
      expect(answer.error?.message).toContain(words);
    }
  });

  test('a truncation below -1', async () => {
    const body = { messages: hello, truncate_prompt_tokens: -2 };
    const { error } = await ask(recent.url, '/v1/chat/completions', body);
    expect(error).toMatchObject({ type: 'Bad Request', param: 'body.truncate_prompt_tokens' });
  });
});

test('null, and what is in range, stays accepted', async () => {
  const body = {
    messages: [{ role: 'assistant', content: null, tool_calls: null }, ...hello],
    max_tokens: 2,
    ...{ stop: null, logit_bias: { '5': 1 }, top_p: 1, presence_penalty: -2, top_k: -1, tools },
    ...{ response_format: { type: 'json_object' }, logprobs: true, top_logprobs: 20, tool_choice: 'auto' },
  };
  expect((await ask(recent.url, '/v1/chat/completions', body)).status).toBe(200);
});

test('a stop token ends the answer, unseen', async () => {
  const words = 'one two three';
  const tokenized = await post(`${recent.url}/tokenize`, { prompt: words });
  const { tokens } = (await tokenized.json()) as { tokens: number[] };
  const answer = await ask(recent.url, '/v1/chat/completions', {
    messages: said(`!sim {"text": "${words}"}`),
    stop_token_ids: tokens.slice(1, 2),
  });
  expect(answer.choices[0]).toMatchObject({
    message: { content: 'one' },
    finish_reason: 'stop',
    stop_reason: tokens[1],
  });
});

describe('a completion', () => {
  test.each([[['', '']], [[[]]], [[[1], []]], [['a', '']]])(
    'is refused for the prompt %j',
    async (prompt) => {
      const answer = await ask(recent.url, '/v1/completions', { prompt, max_tokens: 1 });
      expect([answer.status, answer.error?.param]).toEqual([400, 'prompt']);
    },
  );

  test('without a number for its cap breaks 0.16, with status 200', async () => {
    const body = { prompt: 'a', max_tokens: null };
    const answer = await ask(old.url, '/v1/completions', body);
    expect([answer.status, answer.error?.code]).toEqual([200, 500]);
    expect((await ask(recent.url, '/v1/completions', body)).usage.completion_tokens).toBe(16);
  });

  test.each([
    [{ logprobs: 21 }, 'Requested sample logprobs of 21'],
    [{ logprobs: -1 }, '`logprobs` must be a positive value.'],
  ])('is refused for %j', async (members, words) => {
    const answer = await ask(recent.url, '/v1/completions', { prompt: 'a', ...members });
    expect([answer.status, answer.error?.message]).toEqual([400, expect.stringContaining(words)]);
  });
});

test.each([
  ['/v1/chat/completions', '"max_tokens": 9007199254740993', '9007199254740993 '],
  ['/v1/chat/completions', '"max_tokens": -9007199254740993', 'got -9007199254740993.'],
  ['/v1/chat/completions', '"max_completion_tokens": "9007199254740993"', '9007199254740993 '],
  ['/v1/chat/completions', '"n": 9007199254740993', 'got 9007199254740993.'],
  ['/v1/chat/completions', '"truncate_prompt_tokens": 9007199254740993', '=9007199254740993 '],
  ['/v1/completions', '"prompt": [9007199254740993]', 'Token id 9007199254740993 '],
])('every digit of a number is repeated: %s with %s', async (path, member, words) => {
  const start = path === '/v1/completions' ? '' : '"messages": [{"role": "user", "content": "a"}], ';
  const { error } = await ask(recent.url, path, `{${start}${member}}`);
  expect(error?.message).toContain(words);
});
