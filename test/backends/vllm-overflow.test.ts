import { expect, test } from 'vitest';
import { contextFor, vllm } from './support/contexts.js';

const backend = vllm(contextFor('http://127.0.0.1:9'));
const refuses = (status: number, body: unknown) =>
  backend.isOverflow?.(status, typeof body === 'string' ? body : JSON.stringify(body));

const WORDINGS: Readonly<Record<string, string>> = {
  '0.9, with a cap':
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
  '0.9, without one':
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages.",
  '0.10 to 0.14, the cap':
    "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 4096 tokens and your request has 4000 input tokens (1000 > 4096 - 4000).",
  '0.10 to 0.14, the prompt':
    "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages.",
  '0.16':
    "You passed 4086 input tokens and requested 11 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 4085 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=4086)",
  '0.16, in characters':
    "You passed 105 input characters and requested 4096 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 0 tokens (at most 0 characters).",
  '0.16, a cap above the context':
    'max_tokens=4097cannot be greater than max_model_len=max_total_tokens=4096. Please request fewer output tokens. (parameter=max_tokens, value=4097)',
  '0.18 to 0.31':
    "This model's maximum context length is 4096 tokens. However, you requested 1000 output tokens and your prompt contains at least 3097 input tokens, for a total of at least 4097 tokens.",
  '0.32, a cap above the context':
    'max_tokens=4097 cannot be greater than max_model_len=4096. Please request fewer output tokens. (parameter=max_tokens, value=4097)',
  '0.32, the other name':
    'max_completion_tokens=4097 cannot be greater than max_model_len=4096. Please request fewer output tokens. (parameter=max_completion_tokens, value=4097)',
  '0.32, a responses cap':
    'max_output_tokens=5000 cannot be greater than max_model_len=4096. Please request fewer output tokens. (parameter=max_output_tokens, value=5000)',
  '0.32, the prompt':
    "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=4097)",
  '0.32, in characters':
    "This model's maximum context length is 4096 tokens. However, your prompt contains 1000050 characters (more than 524288 characters, which is the upper bound for 4096 input tokens).",
  'a prompt that fills the context': 'max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)',
  'a responses prompt': 'The engine prompt length 4096 exceeds the max_model_len 4096. Please reduce prompt.',
  'an engine prompt':
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
  'an older engine prompt':
    'The prompt (total length 5000) is too long to fit into the model (context length 4096).',
  'behind a gateway':
    "litellm.BadRequestError: OpenAIException - This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
};

for (const [what, message] of Object.entries(WORDINGS)) {
  test(`is an overflow in every shape of error: ${what} (bug case 14, vllm-project/vllm#33418)`, () => {
    expect(
      refuses(400, { error: { message, type: 'BadRequestError', param: 'input_tokens', code: 400 } }),
    ).toBe(true);
    expect(refuses(400, { object: 'error', message, type: 'BadRequestError', code: 400 })).toBe(true);
    expect(refuses(400, { type: 'error', error: { type: 'BadRequestError', message } })).toBe(true);
    expect(refuses(400, { error: message })).toBe(true);
    expect(refuses(400, JSON.stringify(message))).toBe(true);
    for (const status of [200, 401, 404, 413, 422, 429, 500]) {
      expect(refuses(status, { error: { message } })).toBe(false);
    }
  });
}

const OTHERS: Readonly<Record<string, string>> = {
  'a cap of the client that is no cap':
    'max_tokens must be at least 1, got -1. (parameter=max_tokens, value=-1)',
  'a type': "1 validation error:\n  {'type': 'int_from_float', 'loc': 'body.max_tokens', 'input': '5.5'}",
  'a validation error that quotes the client':
    "1 validation error:\n  {'type': 'missing', 'input': {'content': \"This model's maximum context length is 4096 tokens\"}}",
  'another limit': 'n must be at most 16384, got 20000.',
  'a truncation':
    'truncate_prompt_tokens=5000 cannot be greater than max_model_len = 4096. Please request a smaller truncation size.',
  'an empty conversation':
    'Cannot apply chat template to an empty conversation. Provide at least one message.',
  'an empty prompt': 'The decoder prompt cannot be empty',
};
for (const [what, message] of Object.entries(OTHERS)) {
  test(`is no overflow: ${what}`, () => {
    expect(refuses(400, { error: { message, type: 'BadRequestError', code: 400 } })).toBe(false);
  });
}

test('a body that is no JSON error is no overflow', () => {
  const [message] = Object.values(WORDINGS);
  for (const body of [
    '',
    '{',
    '<html>',
    String(message),
    '[]',
    'null',
    '5',
    { error: { message: 5 } },
    { detail: message },
  ]) {
    expect(refuses(400, body)).toBe(false);
  }
});
