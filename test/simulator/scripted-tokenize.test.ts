import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { post, said } from './ask.js';

let server: TestSimulator;

beforeAll(async () => {
  server = await simulator();
});
afterAll(() => server.close());

interface Tokenized {
  readonly count: number;
  readonly max_model_len: number;
  readonly tokens: readonly number[];
}

function ask(script: object): Promise<Response> {
  return post(`${server.url}/tokenize`, { messages: said(`!sim ${JSON.stringify(script)}`) });
}

async function tokenized(script: object): Promise<Tokenized> {
  return (await (await ask(script)).json()) as Tokenized;
}

test('a script without the member changes no count', async () => {
  const { count, tokens } = await tokenized({ status: 503, tokens: 3, hang: true });
  expect(count).toBe(tokens.length);
  expect(count).toBeGreaterThan(10);
});

test('count, length and number of ids can each be another', async () => {
  const answer = await tokenized({ tokenize: { count: 5, max_model_len: 77, ids: 3 } });
  expect(answer).toMatchObject({ count: 5, max_model_len: 77 });
  expect(answer.tokens).toHaveLength(3);
});

test('a status is a failure in the shape of vLLM, with headers', async () => {
  const answer = await ask({ tokenize: { status: 429, headers: { 'retry-after': '3' } } });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '3']);
  expect(await answer.json()).toMatchObject({ error: { code: 429 } });
});

test.each([
  [{ body: { count: '12' } }, 200, 'application/json', '{"count":"12"}'],
  [{ body: null }, 200, 'application/json', 'null'],
  [{ body: '<html>', content_type: 'text/html', status: 502 }, 502, 'text/html', '<html>'],
])('the body can be anything: %j', async (tokenize, status, type, text) => {
  const answer = await ask({ tokenize });
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    status,
    type,
    text,
  ]);
});

test('the answer may break off in its middle', async () => {
  const answer = await ask({ tokenize: { cut: true } });
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
});

test('a prompt may carry the script too, and attempts choose between scripts', async () => {
  const script = { attempts: [{ tokenize: { count: 1 } }, {}] };
  const prompt = `!sim ${JSON.stringify(script)}`;
  const counts: number[] = [];
  for (let at = 0; at < 2; at += 1) {
    const answer = await post(`${server.url}/tokenize`, { prompt });
    counts.push(((await answer.json()) as Tokenized).count);
  }
  expect(counts[0]).toBe(1);
  expect(counts[1]).toBeGreaterThan(10);
});

test('all counts, or one, can be slow', async () => {
  const slow = await simulator({ tokenizeDelayMs: 60 });
  const timed = async (url: string, content: string): Promise<number> => {
    const start = performance.now();
    await (await post(`${url}/tokenize`, { messages: said(content) })).text();
    return performance.now() - start;
  };
  expect(await timed(slow.url, 'a')).toBeGreaterThanOrEqual(59);
  expect(await timed(server.url, '!sim {"tokenize": {"delay_ms": 60}}')).toBeGreaterThanOrEqual(59);
  await slow.close();
});
