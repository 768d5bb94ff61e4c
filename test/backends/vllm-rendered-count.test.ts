import { expect, test } from 'vitest';
import { renderAnswer } from '../../src/backends/vllm/rendered-count.js';

function read(body: unknown): unknown {
  const reader = renderAnswer(200);
  reader.push(Buffer.from(JSON.stringify(body)));
  return reader.end();
}

test('a rendered chat counts as many tokens as it has ids, in the form of either version', () => {
  expect(read({ token_ids: [1, 2, 3] })).toEqual({ tokens: 3 });
  expect(read([[], [{ prompt_token_ids: [1, 2] }]])).toEqual({ tokens: 2 });
});

test.each([{ token_ids: [] }, [[], [{ prompt_token_ids: [] }]], [[], []], { token_ids: 3 }, {}])(
  'a chat rendered without tokens is no count: %j',
  (body) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ code: 'bad_answer' }));
  },
);
