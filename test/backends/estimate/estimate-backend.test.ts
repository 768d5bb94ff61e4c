import { expect, onTestFinished, test } from 'vitest';
import { EstimateOnlyError } from '../../../src/backends/contract.js';
import { createEstimateBackend } from '../../../src/backends/estimate/estimate-backend.js';
import { postChat, startProxy, told } from '../../support/proxy.js';
import { CHAT } from '../../support/upstream-stub.js';
import { callOf, contextFor } from '../support/contexts.js';
import { otherServer } from '../support/other-server.js';

const BODY = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'hello' }],
  max_tokens: 100_000,
});

async function proxyOf(card: object, flags: Record<string, string> = {}) {
  const stub = await otherServer(card);
  const proxy = await startProxy({ upstream: stub.url, backend: 'estimate', ...flags });
  onTestFinished(async () => {
    await proxy.close();
    await stub.close();
  });
  await proxy.ready();
  return { stub, proxy };
}

test('an estimate that was chosen clamps, warns of nothing, and counts as no failure', async () => {
  const { stub, proxy } = await proxyOf({ context_length: 4096 });
  const response = await postChat(proxy.url, BODY);
  const { 'prompt-tokens': prompt, ...others } = told(response);
  expect(others).toMatchObject({
    action: 'clamped',
    source: 'rough-fallback',
    'context-length': '4096',
    'max-tokens': String(4096 - Number(prompt)),
  });
  expect(proxy.logged.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  const metrics = await (await fetch(`${proxy.url}/incontext/metrics`)).text();
  expect(metrics).not.toMatch(/^incontext_tokenizer_failures_total\{.*\} [1-9]/m);
  expect(stub.at('/tokenize')).toEqual([]);
  expect(JSON.parse(stub.only(CHAT).body.toString()).max_tokens).toBe(4096 - Number(prompt));
});

test.each([
  [{ max_model_len: 100, context_length: 200 }, 100],
  [{ meta: { n_ctx: 300, n_ctx_train: 8192 } }, 300],
  [{ loaded_context_length: 400, max_context_length: 8192 }, 400],
  [{ context_window: 500 }, 500],
  [{ max_context_length: 600 }, 600],
  [{ context_length: '700' }, undefined],
  [{ meta: { n_ctx_train: 8192 } }, undefined],
  [{}, undefined],
])('the context length on the card %o is %s', async (card, length) => {
  const stub = await otherServer(card);
  const backend = createEstimateBackend(contextFor(stub.url));
  onTestFinished(async () => {
    await backend.close?.();
    await stub.close();
  });
  expect(await backend.models?.(callOf())).toEqual([{ id: 'm', contextLength: length }]);
  expect(await backend.describe('m', callOf())).toBe(length);
  expect(await backend.describe('another', callOf())).toBeUndefined();
  await expect(backend.count({} as never, callOf())).rejects.toThrow(EstimateOnlyError);
  backend.clearCache();
});

test('a server that tells no length needs a configured one, or its requests pass', async () => {
  const without = await proxyOf({});
  expect(told(await postChat(without.proxy.url, BODY))).toMatchObject({
    action: 'unchanged',
    reason: 'window_unknown',
  });
  const configured = await proxyOf({}, { 'context-length': '2048' });
  expect(told(await postChat(configured.proxy.url, BODY))).toMatchObject({
    action: 'clamped',
    'context-length': '2048',
  });
});

test('only positive integers are caps: anything else is as if absent', async () => {
  const { proxy } = await proxyOf({ context_length: 4096 });
  const response = await postChat(proxy.url, BODY.replace('100000', '"8"'));
  expect(told(response).reason).toBe('cap_inserted');
});

test('a server that is away has no length', async () => {
  const backend = createEstimateBackend(contextFor('http://127.0.0.1:9'));
  onTestFinished(() => backend.close?.());
  expect(await backend.describe('m', callOf())).toBeUndefined();
});
