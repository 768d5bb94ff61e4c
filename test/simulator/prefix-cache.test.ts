import { afterAll, beforeAll, expect, test } from 'vitest';
import { PrefixCache } from '../../src/simulator/prefix-cache.js';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { chat, said } from './ask.js';

let server: TestSimulator;

beforeAll(async () => {
  server = await simulator();
});
afterAll(() => server.close());

const long = 'a sentence of some length that fills more than one block '.repeat(10);

test('a repeated prompt is cached in whole blocks, but for its last token', async () => {
  const body = { messages: said(long), max_tokens: 1 };
  const first = await chat(server.url, body);
  expect(first.usage.prompt_tokens_details).toBeNull();
  const again = await chat(server.url, body);
  const expected = Math.floor((again.usage.prompt_tokens - 1) / 16) * 16;
  expect(again.usage.prompt_tokens_details).toEqual({ cached_tokens: expected });
});

test('a conversation that goes on finds prompt and answer in the cache', async () => {
  const script = `${long}\n!sim ${JSON.stringify({ text: long })}`;
  const first = await chat(server.url, { messages: said(script) });
  const messages = [...said(script), { role: 'assistant', content: long }, ...said('and?')];
  const second = await chat(server.url, { messages, max_tokens: 1 });
  const whole = first.usage.prompt_tokens + first.usage.completion_tokens;
  expect(second.usage.prompt_tokens_details?.cached_tokens).toBe(Math.floor(whole / 16) * 16);
});

test('another first word shares nothing', async () => {
  const answer = await chat(server.url, { messages: said(`Other ${long}`), max_tokens: 1 });
  expect(answer.usage.prompt_tokens_details).toBeNull();
});

test('another salt shares nothing', async () => {
  const body = { messages: said(`Salted ${long}`), max_tokens: 1 };
  const cached = async (salt: object): Promise<number | undefined> =>
    (await chat(server.url, { ...body, ...salt })).usage.prompt_tokens_details?.cached_tokens;
  expect(await cached({ cache_salt: 'a' })).toBeUndefined();
  expect(await cached({ cache_salt: 'b' })).toBeUndefined();
  expect(await cached({})).toBeUndefined();
  expect(await cached({ cache_salt: 'a' })).toBeGreaterThan(100);
});

test('what a script refuses does not enter the cache', async () => {
  const script = { attempts: [{ status: 503 }, { text: 'a' }] };
  const body = { messages: said(`Refused ${long}\n!sim ${JSON.stringify(script)}`) };
  await chat(server.url, body);
  const answer = await chat(server.url, body);
  expect(answer.choices[0]?.message.content).toBe('a');
  expect(answer.usage.prompt_tokens_details).toBeNull();
});

test('details are left out on request, as vLLM does by default', async () => {
  const plain = await simulator({ enablePromptTokensDetails: false });
  const body = { messages: said(long), max_tokens: 1 };
  await chat(plain.url, body);
  expect((await chat(plain.url, body)).usage.prompt_tokens_details).toBeNull();
  await plain.close();
});

test('forgets what was not used for longest', () => {
  const cache = new PrefixCache(32);
  const prompt = (start: number): number[] => Array.from({ length: 17 }, (_, index) => start + index);
  cache.store(prompt(100));
  cache.store(prompt(200));
  cache.store(prompt(300));
  expect([100, 200, 300].map((start) => cache.lookUp(prompt(start)))).toEqual([0, 16, 16]);
});

test('computes the last token even of a prompt that fills its blocks', () => {
  const cache = new PrefixCache(1000);
  const prompt = Array.from({ length: 32 }, (_, index) => index);
  cache.store(prompt);
  expect(cache.lookUp(prompt)).toBe(16);
  expect(cache.lookUp([...prompt, 7])).toBe(32);
});
