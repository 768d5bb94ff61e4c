import { expect, test } from 'vitest';
import { simulator } from '../support/simulator.js';
import { post } from './ask.js';

test('a server that counts a long text answers others meanwhile', async () => {
  const server = await simulator();
  const words = Array.from({ length: 100_000 }, (_, index) => `word${(index * 7919) % 10_007}`);
  let counted = false;
  const counting = post(`${server.url}/tokenize`, { prompt: words.join(' ') }).then(async (answer) => {
    await answer.text();
    counted = true;
  });
  const waits: number[] = [];
  while (!counted) {
    const start = performance.now();
    await (await fetch(`${server.url}/health`)).text();
    waits.push(performance.now() - start);
  }
  await counting;
  expect(waits.length).toBeGreaterThan(10);
  expect(Math.max(...waits)).toBeLessThan(1000);
  await server.close();
});
