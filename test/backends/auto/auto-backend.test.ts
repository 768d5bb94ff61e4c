import { describe, expect, onTestFinished, test } from 'vitest';
import { createAutoBackend } from '../../../src/backends/auto/auto-backend.js';
import { type Backend, EstimateOnlyError } from '../../../src/backends/contract.js';
import { callOf, contextFor, HELLO, requestOf } from '../support/contexts.js';
import { counts, listOf } from '../support/llamacpp-stub.js';
import { type Answer, json, listen, type Stub } from '../support/tokenizer-stub.js';

const OPEN = callOf({ configured: false, contextLength: undefined });
const COUNTING = '/v1/chat/completions/input_tokens';

/** Answers what is given for the path, and 404 for the others. */
const server =
  (answers: Record<string, unknown>): Answer =>
  (response, { path }) =>
    path in answers ? json(response, answers[path]) : json(response, { detail: 'Not Found' }, 404);

const cards = (card: object) => ({ data: [{ id: 'm', ...card }] });
const VLLM_COUNT = { count: 7, max_model_len: 4096, tokens: [] };
const VLLM = server({
  '/v1/models': cards({ owned_by: 'vllm', max_model_len: 4096 }),
  '/tokenize': VLLM_COUNT,
});
const LLAMACPP: Answer = (response, arrived, index) =>
  arrived.path === COUNTING
    ? counts(12)(response)
    : server({ '/v1/models': listOf(2048) })(response, arrived, index);
const OTHER = server({ '/v1/models': cards({ owned_by: 'someone', context_length: 1000 }) });

function auto(stub: Pick<Stub, 'url'>): Backend {
  const backend = createAutoBackend(contextFor(stub.url));
  onTestFinished(() => backend.close?.());
  return backend;
}

const asked = (stub: Stub, path: string) => stub.arrived.filter((one) => one.path === path).length;

describe('the first count waits until the server is recognised:', () => {
  test.each([
    ['vLLM by its owner', VLLM, 'vllm-tokenize', { tokens: 7, contextLength: 4096 }],
    [
      'vLLM behind another name',
      server({
        '/v1/models': cards({ owned_by: 'gateway', max_model_len: 4096 }),
        '/version': { version: '0.32' },
        '/tokenize': VLLM_COUNT,
      }),
      'vllm-tokenize',
      { tokens: 7, contextLength: 4096 },
    ],
    ['llama.cpp by its owner', LLAMACPP, 'llamacpp', { tokens: 12, contextLength: 2048 }],
    [
      'llama.cpp behind another name',
      server({
        '/v1/models': cards({ owned_by: 'gateway' }),
        '/props': { default_generation_settings: { n_ctx: 512 } },
        [COUNTING]: { input_tokens: 12 },
      }),
      'llamacpp',
      { tokens: 12, contextLength: 512 },
    ],
  ])('%s', async (_what, answer, source, count) => {
    const backend = auto(await listen(answer));
    expect(await backend.count(requestOf(HELLO), OPEN)).toEqual(count);
    expect(backend.source).toBe(source);
    expect(backend.health?.().calls).toBe(1);
  });

  test.each([
    ['an unknown server', OTHER],
    [
      'SGLang',
      server({ '/v1/models': cards({ owned_by: 'sglang', max_model_len: 9 }), '/version': { version: '1' } }),
    ],
    ['a page in place of properties', server({ '/v1/models': cards({}), '/props': 'hello' })],
  ])('%s is estimated', async (_what, answer) => {
    const backend = auto(await listen(answer));
    await expect(backend.count(requestOf(HELLO), OPEN)).rejects.toThrow(EstimateOnlyError);
    expect(backend.source).toBe('rough-fallback');
    expect(backend.health?.()).toEqual({ state: 'closed', calls: 0, failures: 0 });
  });
});

test('requests that come at once share the recognition', async () => {
  const stub = await listen(OTHER);
  const backend = auto(stub);
  await Promise.allSettled([1, 2, 3].map((n) => backend.count(requestOf({ ...HELLO, n }), OPEN)));
  expect(asked(stub, '/props')).toBe(1);
});

test('an unknown server is not asked over and over what it is', async () => {
  const stub = await listen(OTHER);
  const backend = auto(stub);
  for (let i = 0; i < 3; i += 1) {
    expect(await backend.models?.(OPEN)).toEqual([{ id: 'm', contextLength: 1000 }]);
  }
  expect(asked(stub, '/props')).toBe(1);
});

test('what comes back as another server is recognised at the next look', async () => {
  const stub = await listen(VLLM);
  const backend = auto(stub);
  await backend.models?.(OPEN);
  expect(backend.source).toBe('vllm-tokenize');
  stub.answer = LLAMACPP;
  expect(await backend.models?.(OPEN)).toEqual([{ id: 'smol', contextLength: 2048 }]);
  expect(backend.source).toBe('llamacpp');
});

test('a count that finds another server there is taken again, of that kind', async () => {
  const stub = await listen(VLLM);
  const backend = auto(stub);
  await backend.count(requestOf(HELLO), OPEN);
  stub.answer = LLAMACPP;
  const next = requestOf({ messages: [{ role: 'user', content: 'next' }] });
  expect(await backend.count(next, OPEN)).toEqual({ tokens: 12, contextLength: 2048 });
});

test('a count that fails on the same server fails', async () => {
  const stub = await listen(server({ '/v1/models': cards({ owned_by: 'vllm', max_model_len: 4096 }) }));
  const backend = auto(stub);
  await expect(backend.count(requestOf(HELLO), OPEN)).rejects.toMatchObject({ code: 'status' });
});

test('a server that does not answer is not asked for every request, and has no length', async () => {
  const backend = auto({ url: 'http://127.0.0.1:9' });
  for (let i = 0; i < 3; i += 1) {
    await expect(backend.count(requestOf(HELLO), OPEN)).rejects.toMatchObject({ code: 'unreachable' });
  }
  await expect(backend.count(requestOf(HELLO), OPEN)).rejects.toMatchObject({ code: 'circuit_open' });
  expect(await backend.describe('m', OPEN)).toBeUndefined();
});

test('a client that goes while the server is being recognised harms nobody else', async () => {
  const stub = await listen(() => undefined);
  const backend = auto(stub);
  const gone = new AbortController();
  const first = backend.count(requestOf(HELLO), { ...OPEN, signal: gone.signal });
  const second = backend.count(requestOf(HELLO), OPEN);
  await stub.arrivals(1);
  gone.abort(new Error('gone'));
  await expect(first).rejects.toThrow('gone');
  stub.answer = VLLM;
  await stub.close();
  await expect(second).rejects.toMatchObject({ name: 'CountFailedError' });
});

test('caps, fields and overflow are read as the recognised server reads them', async () => {
  const overflow = JSON.stringify({ error: { type: 'exceed_context_size_error' } });
  const hooks = (backend: Backend) => [
    backend.coerceOutputBudget?.('8.5'),
    backend.outputBudgetField?.('max_output_tokens', requestOf(HELLO)),
    backend.outputBudgetLimit?.(requestOf({ ...HELLO, truncate_prompt_tokens: 5 }), 100),
    backend.isOverflow?.(400, overflow),
  ];
  const stub = await listen(LLAMACPP);
  const backend = auto(stub);
  expect(hooks(backend)).toEqual([undefined, 'max_output_tokens', undefined, false]);
  expect(await backend.describe(undefined, OPEN)).toBe(2048);
  expect(hooks(backend)).toEqual([8, 'max_tokens', undefined, true]);
  stub.answer = VLLM;
  await backend.models?.(OPEN);
  expect(hooks(backend)).toEqual([undefined, 'max_tokens', 95, false]);
});
