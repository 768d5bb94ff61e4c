import { expect, test } from 'vitest';
import { simulator } from '../support/simulator.js';
import { chat, said } from './ask.js';

test('an answer that no memory holds is refused', async () => {
  const server = await simulator();
  const rest = { messages: said('hello'), temperature: 1, n: 16_384 };
  const answer = await chat(server.url, { ...rest, logprobs: true, top_logprobs: 20 });
  expect(answer.error).toMatchObject({
    code: 400,
    message: expect.stringContaining('at most 2752512 tokens'),
  });
  const small = await chat(server.url, { ...rest, max_tokens: 2 });
  expect(small.usage.completion_tokens).toBe(32_768);
  await server.close();
});
