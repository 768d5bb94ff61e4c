import { expect, test } from 'vitest';
import { BackendSettingsError } from '../../../src/backends/contract.js';
import { contextFor, HELLO, requestOf } from '../support/contexts.js';
import { llamacpp } from '../support/llamacpp-stub.js';

const backend = () => llamacpp(contextFor('http://127.0.0.1:9'));

test.each([
  ['8', 8],
  ['8.5', 8],
  ['1e2', 100],
  ['0', 1],
  ['-0.5', 1],
  ['true', 1],
  ['2147483647', 2_147_483_647],
  ['4294967299', 3],
  ['-1', undefined],
  ['-2', undefined],
  ['null', undefined],
  ['"8"', undefined],
  ['2147483648', undefined],
  ['1e12', undefined],
  ['18446744073709551620', undefined],
  [`1${'0'.repeat(400)}`, undefined],
  ['[8]', undefined],
])('reads the cap %s as %s', (text, cap) => {
  expect(backend().coerceOutputBudget?.(text)).toBe(cap);
});

test.each([
  ['max_output_tokens', HELLO, 'max_tokens'],
  ['max_output_tokens', { prompt: 'x' }, 'max_tokens'],
  ['max_output_tokens', { input: 'x' }, 'max_output_tokens'],
  ['max_completion_tokens', HELLO, 'max_completion_tokens'],
] as const)('a cap of %s beside %o goes out as %3$s', (field, body, sent) => {
  expect(backend().outputBudgetField?.(field, requestOf(body))).toBe(sent);
});

const OVERFLOW = {
  error: {
    code: 400,
    message: 'request (10031 tokens) exceeds the available context size (8192 tokens), try increasing it',
    type: 'exceed_context_size_error',
    n_prompt_tokens: 10_031,
    n_ctx: 8192,
  },
};

test.each([
  ['its overflow', 400, JSON.stringify(OVERFLOW), true],
  ['another status', 500, JSON.stringify(OVERFLOW), false],
  [
    'another refusal',
    400,
    JSON.stringify({ error: { ...OVERFLOW.error, type: 'invalid_request_error' } }),
    false,
  ],
  ['an error without a shape', 400, '{"error":"exceed_context_size_error"}', false],
  ['no JSON', 400, 'exceed_context_size_error', false],
])('recognises %s', (_what, status, body, isOverflow) => {
  expect(backend().isOverflow?.(status, body)).toBe(isOverflow);
});

test('settings of its own are refused by name', () => {
  const context = contextFor('http://127.0.0.1:9', {}, { options: { path: '/count' } });
  expect(() => llamacpp(context)).toThrow(BackendSettingsError);
  expect(() => llamacpp(context)).toThrow('backends.llamacpp.path');
});
