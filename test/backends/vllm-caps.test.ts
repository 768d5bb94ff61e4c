import { expect, test } from 'vitest';
import { readVllmCap } from '../../src/backends/vllm/caps.js';
import { CAP_FIELDS } from '../../src/budget/cap-field.js';
import { contextFor, requestOf, vllm } from './support/contexts.js';
import { child, vectorsOf } from './support/vector-file.js';

const backend = vllm(contextFor('http://127.0.0.1:9'));
const vectors = vectorsOf('budget.json').filter(
  ({ input }) => Reflect.get(Object(input.value('backend')), 'kind') === 'vllm',
);

/** The smallest positive cap of the request as the backend reads it, under the name it goes out. */
function cap(request: ReturnType<typeof child>) {
  let smallest: { field: string; tokens: number } | undefined;
  for (const field of CAP_FIELDS) {
    const text = request.text(field);
    const tokens = text === undefined ? undefined : backend.coerceOutputBudget?.(text);
    if (tokens !== undefined && tokens < (smallest?.tokens ?? Number.POSITIVE_INFINITY)) {
      smallest = { field: String(backend.outputBudgetField?.(field, request)), tokens };
    }
  }
  return smallest;
}

for (const { name, input, expected } of vectors.filter(({ name }) =>
  /^(odd value|three caps|max_output)/.test(name),
)) {
  test(`reads caps as vLLM does: ${name}`, () => {
    const settings = child(input, 'settings');
    const room = Number(settings.value('W')) - Number(child(input, 'counter').value('tokens'));
    const { field, tokens } = cap(child(input, 'request')) ?? { field: 'max_tokens', tokens: room };
    expect(field).toBe(expected.value('field'));
    expect(Math.min(room, tokens)).toBe(expected.value('value'));
  });
}

test('the vector file has every odd value', () => {
  expect(vectors.filter(({ name }) => name.startsWith('odd value')).length).toBeGreaterThan(60);
});

const READ: readonly (readonly [string, number | undefined])[] = [
  ['1', 1],
  ['2.048e3', 2048],
  ['1E2', 100],
  ['-0', undefined],
  ['1e400', undefined],
  ['1e-400', undefined],
  ['9223372036854775807', Number.MAX_SAFE_INTEGER],
  ['"007"', 7],
  ['"1_000.0"', 1000],
  ['"1__0"', undefined],
  ['"_1"', undefined],
  ['"1_"', undefined],
  ['"1."', undefined],
  ['".0"', undefined],
  ['"1.0_0"', undefined],
  ['"1.0.0"', undefined],
  ['"- 7"', undefined],
  ['"-7"', undefined],
  ['"true"', undefined],
  ['"7\\n"', 7],
  ['"\\u0037"', 7],
  ['"1e3"', undefined],
  [`"${'1'.repeat(4300)}"`, Number.MAX_SAFE_INTEGER],
  [`"${'1'.repeat(4301)}"`, undefined],
];
for (const [text, value] of READ) {
  test(`reads ${text.slice(0, 30)} like pydantic: ${value}`, () => {
    expect(readVllmCap(text)).toBe(value);
  });
}

test('max_output_tokens keeps its name where no chat messages are', () => {
  const request = requestOf({ input: 'hi', max_output_tokens: 5 });
  expect(backend.outputBudgetField?.('max_output_tokens', request)).toBe('max_output_tokens');
});

test('max_tokens and max_completion_tokens keep their names', () => {
  const request = requestOf({ messages: [] });
  for (const field of ['max_tokens', 'max_completion_tokens'] as const) {
    expect(backend.outputBudgetField?.(field, request)).toBe(field);
  }
});
