import { expect, test } from 'vitest';
import { told } from '../support/proxy.js';
import { CHAT, json, type StubOptions, type StubRoute, sse } from '../support/upstream-stub.js';
import { COMPLETIONS, MESSAGES, RESPONSES, type Started, start } from './support/endpoints.js';

/** `/tokenize` counts 3000; the answer to a chat reports what `reported` says. */
function reporting(reported: () => number, whole: () => unknown = () => undefined): StubOptions {
  const chat: StubRoute = (request, response) => {
    const usage = { prompt_tokens: reported(), completion_tokens: 1, total_tokens: reported() + 1 };
    if (!request.body.includes('"stream":true'))
      return json(response, 200, whole() ?? { choices: [], usage });
    return sse(response, [{ choices: [{ delta: { content: 'a' } }] }, { choices: [], usage }]);
  };
  return { routes: { [`POST ${CHAT}`]: chat } };
}

const BODY = { model: 'm', messages: [{ role: 'user', content: 'secret' }], max_tokens: 9 };
async function ask({ post }: Started, more: object = {}, path = CHAT): Promise<Record<string, string>> {
  const answer = await post(path, JSON.stringify({ ...BODY, ...more }));
  await answer.arrayBuffer();
  return told(answer);
}
async function metric({ proxy }: Started, name: string): Promise<number> {
  const text = await (await fetch(`${proxy.url}/incontext/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`incontext_count_drift_tokens_${name} `));
  return Number(line?.split(' ')[1]);
}
const warned = ({ proxy }: Started) => proxy.logged.filter(({ code }) => code === 'count_drift');

test('a difference between count and usage that is always the same heals itself', async () => {
  const started = await start(reporting(() => 3010));
  const first = await ask(started);
  expect(first).toMatchObject({ source: 'vllm-tokenize', 'prompt-tokens': '3000' });
  // In doubt: the margin of 64 is added.
  expect(await ask(started)).toMatchObject({ source: 'rough-fallback', 'prompt-tokens': '3064' });
  await ask(started);
  expect(await ask(started)).toMatchObject({ source: 'vllm-tokenize', 'prompt-tokens': '3010' });
});

test('streams that report a usage teach the same', async () => {
  const started = await start(reporting(() => 3010));
  for (let i = 0; i < 3; i += 1) await ask(started, { stream: true });
  expect(await ask(started)).toMatchObject({ source: 'vllm-tokenize', 'prompt-tokens': '3010' });
});

test('a usage below the count never lowers it, but the count is no longer called exact', async () => {
  const started = await start(reporting(() => 2990));
  for (let i = 0; i < 4; i += 1) await ask(started);
  expect(await ask(started)).toMatchObject({ source: 'rough-fallback', 'prompt-tokens': '3000' });
});

test('every comparison is in the metric; a difference is warned of once in a while, by counts only', async () => {
  let reported = 3000;
  const started = await start(reporting(() => reported));
  await ask(started);
  expect(await metric(started, 'count')).toBe(1);
  expect(warned(started)).toEqual([]);
  reported = 3010;
  for (let i = 0; i < 3; i += 1) await ask(started);
  expect([await metric(started, 'count'), await metric(started, 'sum')]).toEqual([4, 30]);
  expect(warned(started)).toMatchObject([
    { level: 40, model: 'm', shape: 'chat_completions', counted: 3000, reported: 3010 },
  ]);
  expect(JSON.stringify(started.proxy.logged)).not.toContain('secret');
});

test('requests of another shape are counted as before', async () => {
  const started = await start(reporting(() => 3010));
  for (let i = 0; i < 3; i += 1) await ask(started);
  const tools = [{ type: 'function', function: { name: 't' } }];
  expect(await ask(started, { tools })).toMatchObject({ source: 'vllm-tokenize', 'prompt-tokens': '3000' });
});

test('an answer without a usage, refused, or with nonsense in its place teaches nothing and reaches the client', async () => {
  const nonsense = [
    'usage',
    { usage: null },
    { usage: { prompt_tokens: 'x' } },
    { usage: { prompt_tokens: -1 } },
  ];
  for (const one of nonsense) {
    const started = await start(
      reporting(
        () => 3010,
        () => one,
      ),
    );
    const { stub, proxy, post } = started;
    expect(await (await post(CHAT, JSON.stringify(BODY))).json()).toEqual(one);
    expect(await metric(started, 'count')).toBe(0);
    await proxy.close();
    await stub.close();
  }
});

test('several prompts of one completion are reported as a sum, so not compared', async () => {
  const usage = { prompt_tokens: 3600, completion_tokens: 1, total_tokens: 3601 };
  const routes = { [`POST ${COMPLETIONS}`]: ((_, response) => json(response, 200, { usage })) as StubRoute };
  const started = await start({ routes });
  await ask(started, { prompt: ['a', 'b'] }, COMPLETIONS);
  expect(await metric(started, 'count')).toBe(0);
  await ask(started, { prompt: 'a' }, COMPLETIONS);
  expect(await metric(started, 'count')).toBe(1);
});

test('tokens that came from a cache are part of the prompt in the form of Anthropic too', async () => {
  const usage = { input_tokens: 1000, cache_read_input_tokens: 2000, output_tokens: 1 };
  const routes = { [`POST ${MESSAGES}`]: ((_, response) => json(response, 200, { usage })) as StubRoute };
  const started = await start({ routes });
  await ask(started, {}, MESSAGES);
  expect([await metric(started, 'count'), await metric(started, 'sum')]).toEqual([1, 0]);
});

test('what a backend calls rough gets the margin, and is not compared', async () => {
  const backend = () => ({
    source: 'own',
    count: async () => ({ tokens: 500, contextLength: 4096, rough: true }),
    describe: async () => 4096,
    clearCache: () => {},
  });
  const started = await start(
    reporting(() => 3010),
    {},
    { backend },
  );
  expect(await ask(started)).toMatchObject({ source: 'rough-fallback', 'prompt-tokens': '564' });
  expect(await metric(started, 'count')).toBe(0);
});

test('a usage that a client has echoed is not the usage of its answer', async () => {
  const properties = { usage: { input_tokens: 3010, prompt_tokens: 3010 } };
  const echoed = {
    tools: [{ parameters: { properties } }],
    status: 'queued',
    text: { format: { properties } },
  };
  const routes = {
    [`POST ${RESPONSES}`]: ((_, response) => json(response, 200, { ...echoed, usage: null })) as StubRoute,
  };
  const started = await start({ routes });
  for (let i = 0; i < 3; i += 1) await ask(started, { input: 'q' }, RESPONSES);
  expect(await metric(started, 'count')).toBe(0);
});

test('what the answers to one caller teach changes nothing for another', async () => {
  const { post } = await start(reporting(() => 3010));
  const askAs = async (caller: string) => {
    const answer = await post(CHAT, JSON.stringify(BODY), { authorization: `Bearer ${caller}` });
    await answer.arrayBuffer();
    return told(answer);
  };
  for (let i = 0; i < 3; i += 1) await askAs('a');
  expect(await askAs('a')).toMatchObject({ 'prompt-tokens': '3010' });
  expect(await askAs('b')).toMatchObject({ source: 'vllm-tokenize', 'prompt-tokens': '3000' });
});

test('a usage above the context length is no usage of this model', async () => {
  const started = await start(reporting(() => 300_000));
  for (let i = 0; i < 4; i += 1) await ask(started);
  expect(await ask(started)).toMatchObject({ source: 'vllm-tokenize', 'prompt-tokens': '3000' });
  expect(await metric(started, 'count')).toBe(0);
});
