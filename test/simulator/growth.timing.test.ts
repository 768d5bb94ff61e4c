import { expect, test } from 'vitest';
import { simulator } from '../support/simulator.js';
import { post } from './ask.js';

/** Three times the promise of 30 ms: the machine may be busy. */
const bound = 90;

test('60,000 tokens that grow by 500 are counted in a moment', async () => {
  const server = await simulator({ models: [{ id: 'large', maxModelLen: 131_072 }] });
  const sentence =
    'The quick brown fox jumps over the lazy dog, and 42 engineers write code() { return x + 1; } ';
  const message = (index: number): object => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `${index} ${sentence.repeat(19)}`,
  });
  const messages = Array.from({ length: 118 }, (_, index) => message(index));
  const times: number[] = [];
  let count = 0;
  for (let round = 0; round < 12; round += 1) {
    const body = JSON.stringify({ messages });
    const start = performance.now();
    const answer = await post(`${server.url}/tokenize`, body);
    const text = await answer.text();
    times.push(performance.now() - start);
    count = (JSON.parse(text) as { count: number }).count;
    messages.push(message(messages.length));
  }
  await server.close();
  expect(count).toBeGreaterThan(60_000);
  const growing = times.slice(1).sort((one, other) => one - other);
  expect(growing[Math.floor(growing.length / 2)]).toBeLessThan(bound);
});
