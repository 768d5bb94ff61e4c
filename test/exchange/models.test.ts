import { afterEach, expect, test } from 'vitest';
import { postChat, startProxy, type TestProxy, told } from '../support/proxy.js';
import {
  CHAT,
  json,
  type StubOptions,
  type StubRoute,
  startStub,
  type UpstreamStub,
} from '../support/upstream-stub.js';

let stub: UpstreamStub;
let proxy: TestProxy | undefined;

afterEach(async () => {
  await proxy?.close();
  proxy = undefined;
  await stub.close();
});

async function start(
  options: StubOptions,
  flags: Record<string, string> = {},
  file?: string,
): Promise<TestProxy> {
  stub = await startStub(options);
  proxy = await startProxy({ upstream: stub.url, ...flags }, file === undefined ? {} : { file });
  await proxy.ready();
  return proxy;
}

function chat(model: string | undefined, cap: number): string {
  return JSON.stringify({
    model,
    messages: [{ role: 'user', content: `q${Math.random()}` }],
    max_tokens: cap,
  });
}

const TWO = {
  models: [
    { id: 'a', max_model_len: 4096 },
    { id: 'b', max_model_len: 32_768 },
  ],
  count: 3000,
};

test('gives each model its own window', async () => {
  const { url } = await start(TWO);
  expect(told(await postChat(url, chat('a', 20_000)))).toMatchObject({
    'max-tokens': '1096',
    window: '4096',
  });
  expect(told(await postChat(url, chat('b', 20_000)))).toMatchObject({
    action: 'unchanged',
    window: '32768',
  });
});

test("takes a request without a model for the upstream's first model", async () => {
  const { url } = await start(TWO);
  expect(told(await postChat(url, chat(undefined, 20_000)))).toMatchObject({
    'max-tokens': '1096',
    window: '4096',
  });
});

test('budgets an alias that the model list does not have by the length that the count reports (unslothai/unsloth#6164)', async () => {
  const { url } = await start({
    ...TWO,
    routes: {
      'POST /tokenize': (_request, response) =>
        json(response, 200, { count: 100, max_model_len: 2048, tokens: [] }),
    },
  });
  expect(told(await postChat(url, chat('a-lora', 9999)))).toMatchObject({
    'max-tokens': '1948',
    window: '2048',
  });
});

test('adopts another context length when the upstream restarted with one', async () => {
  const { url } = await start({ window: 4096, count: 3000 });
  expect(told(await postChat(url, chat('m', 9999)))).toMatchObject({ 'max-tokens': '1096' });
  stub.set({ window: 8192 });
  expect(told(await postChat(url, chat('m', 9999)))).toMatchObject({ 'max-tokens': '5192', window: '8192' });
});

test('does not let a cached count speak for another context length', async () => {
  const { url } = await start({ window: 4096, count: 3000 });
  const [first, other] = [chat('m', 9999), chat('m', 9999)];
  await postChat(url, first);
  stub.set({ window: 8192 });
  await postChat(url, other);
  expect(told(await postChat(url, first))).toMatchObject({ 'max-tokens': '5192', window: '8192' });
});

test('starts before the upstream does, passes its absence on, and budgets once it is there (compose)', async () => {
  stub = await startStub();
  const { port } = stub;
  await stub.close();
  proxy = await startProxy({ upstream: `http://127.0.0.1:${port}` });
  const { url } = proxy;
  expect((await fetch(`${url}/incontext/live`)).status).toBe(200);
  expect(await (await fetch(`${url}/incontext/ready`)).json()).toEqual({
    status: 'not_ready',
    reason: 'upstream_unreachable',
  });
  expect((await postChat(url, chat('m', 10))).status).toBe(502);
  stub = await startStub({ port, window: 8192, count: 3000 });
  await proxy.ready();
  expect(told(await postChat(url, chat('m', 9999)))).toMatchObject({ 'max-tokens': '5192', window: '8192' });
});

test('takes a count that reports another length than configured for no exact count, and warns once', async () => {
  const { url, logged } = await start({ window: 8192, count: 3000 }, { 'context-length': '4096' });
  const first = told(await postChat(url, chat('m', 9999)));
  await postChat(url, chat('m', 9999));
  expect(first).toMatchObject({ source: 'rough-fallback', window: '4096', 'context-length': '4096' });
  expect(logged.filter((line) => line.code === 'window_mismatch')).toHaveLength(1);
});

test('passes requests of a model whose window has no room for the reserve unchanged, and says so', async () => {
  const { url, logged } = await start({ window: 300, count: 10 });
  const body = chat('m', 9999);
  expect(told(await postChat(url, body))).toMatchObject({ action: 'unchanged', reason: 'window_too_small' });
  expect(stub.only(CHAT).body.toString()).toBe(body);
  const status = (await (await fetch(`${url}/incontext/status`)).json()) as { models: unknown[] };
  expect(status.models).toEqual([
    { id: 'm', context_length: 300, window: 300, reserve: 256, fallback_margin: 64, degraded: true },
  ]);
  const metrics = await (await fetch(`${url}/incontext/metrics`)).text();
  expect(metrics).toContain('incontext_degraded_models 1');
  const warned = logged.filter((line) => line.reason === 'window_too_small' && line.level === 40);
  expect(warned).toEqual([
    expect.objectContaining({ msg: expect.stringContaining('a reserve of at most 235') }),
  ]);
});

test('states the window outright where the operator does, never above the context length', async () => {
  const { url } = await start({ window: 4096, count: 1000 }, { 'compression-window-tokens': '2000' });
  expect(told(await postChat(url, chat('m', 9999)))).toMatchObject({ 'max-tokens': '1000', window: '2000' });
});

test('reads the length, the reserve and the cap of one model from the file', async () => {
  const file = ['models:', '  m:', '    context_length: 4096', '    max_output_tokens: 300'].join('\n');
  const { url } = await start({ window: 4096, count: 3000 }, { config: 'c.yaml' }, file);
  expect(told(await postChat(url, chat('m', 9999)))).toMatchObject({
    source: 'vllm-tokenize',
    'max-tokens': '300',
  });
});

test("does not take the limit of a tokenizer beside the upstream for the upstream's own", async () => {
  const tokenizer = await startStub({ window: 131_072, count: 3000 });
  const sample: StubRoute = (_request, response) => json(response, 200, { input_tokens: 3000 });
  const { url } = await start(
    { window: 4096, count: 3000, routes: { 'POST /v1/messages/count_tokens': sample } },
    { 'tokenizer-url': `${tokenizer.url}/tokenize` },
  );
  const response = await postChat(
    url,
    JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }] }),
  );
  await tokenizer.close();
  expect(response.status).toBe(200);
  expect(told(response)).toMatchObject({
    'max-tokens': '1096',
    'context-length': '4096',
    source: 'vllm-tokenize',
  });
});

test('says at the start, with the cause, that the upstream does not answer', async () => {
  stub = await startStub();
  proxy = await startProxy({ upstream: 'http://127.0.0.1:9' });
  const { logged } = proxy;
  await expect
    .poll(() => logged.find((line) => line.reachable === false))
    .toMatchObject({ level: 40, cause: 'ECONNREFUSED' });
});
