import { expect, test, vi } from 'vitest';
import type { Backend } from '../../src/backends/contract.js';
import { BodyReader } from '../../src/body/body-reader.js';
import type { CompressionResult, ContextManager } from '../../src/engines/context-manager.js';
import { ENDPOINTS, type Endpoint } from '../../src/exchange/endpoint.js';
import type { ExchangeParts } from '../../src/exchange/parts.js';
import { prepareExchange } from '../../src/exchange/prepare.js';
import { createLog } from '../../src/observe/log.js';
import { createMetrics } from '../../src/observe/metrics.js';
import { Warnings } from '../../src/observe/warnings.js';
import { ModelRegistry } from '../../src/upstream/model-registry.js';
import { settingsOf } from '../support/settings.js';

/** Counts as many tokens as the body says in `"tokens"`. */
const backend: Backend = {
  source: 'body',
  describe: async () => 8192,
  count: async (request) => ({ tokens: Number(request.text('tokens')), contextLength: 8192 }),
  clearCache() {},
};

function partsWith(compress: () => Promise<CompressionResult>): ExchangeParts {
  const engine: ContextManager = { name: 'test', window: () => 6000, compress };
  const settings = settingsOf({
    upstream: 'http://127.0.0.1:1',
    'min-output-tokens': '256',
    'fallback-margin-tokens': '64',
  });
  return {
    backend,
    engine,
    models: new ModelRegistry(settings),
    metrics: createMetrics(),
    warnings: new Warnings(createLog('silent')),
    bodies: new BodyReader(),
    upstream: { reachable: true },
    countSeconds: 30,
  };
}

function body(tokens: number, cap = 1000): Buffer {
  return Buffer.from(`{"model":"m","messages":[],"tokens":${tokens},"max_tokens":${cap}}`);
}

const call = { signal: new AbortController().signal, credential: undefined };
const endpoint = ENDPOINTS[0] as Endpoint;

test('compresses exactly when W - P is below what is required, and not a token earlier', async () => {
  const compress = vi.fn(async () => ({ kind: 'compressed', bytes: body(1000) }) as const);
  const fits = await prepareExchange(body(6000 - 256), { endpoint, call }, partsWith(compress));
  expect(fits).toMatchObject({ action: 'clamped', reason: 'cap_lowered', facts: { maxTokens: 256 } });
  expect(compress).not.toHaveBeenCalled();
  const due = await prepareExchange(body(6000 - 255), { endpoint, call }, partsWith(compress));
  expect(due).toMatchObject({
    action: 'compressed',
    reason: 'compression_due',
    facts: { promptTokens: 1000, originalPromptTokens: 5745, maxTokens: 1000 },
  });
  expect(due.bytes.toString()).toBe(body(1000).toString());
});

test('lowers the cap of what was compressed as well', async () => {
  const compress = async () => ({ kind: 'compressed', bytes: body(5500) }) as const;
  const plan = await prepareExchange(body(5900), { endpoint, call }, partsWith(compress));
  expect(plan).toMatchObject({ action: 'compressed', reason: 'compression_due', facts: { maxTokens: 500 } });
  expect(plan.bytes.toString()).toBe(body(5500, 500).toString());
});

test.each(['irreducible', 'compression_failed', 'compression_timeout'] as const)(
  'clamps to the real window where a due pass ended in %s and the real window has room',
  async (reason) => {
    const plan = await prepareExchange(
      body(7900),
      { endpoint, call },
      partsWith(async () => ({ kind: 'failed', reason })),
    );
    expect(plan).toMatchObject({
      action: 'clamped',
      reason: 'clamped_to_context',
      facts: { maxTokens: 292, window: 8192 },
    });
  },
);

test.each(['irreducible', 'compression_failed', 'compression_timeout'] as const)(
  "sends the client's own bytes with reason %s where the real window has no room either",
  async (reason) => {
    const sent = body(8000);
    const plan = await prepareExchange(
      sent,
      { endpoint, call },
      partsWith(async () => ({ kind: 'failed', reason })),
    );
    expect(plan).toMatchObject({ action: 'unchanged', reason });
    expect(plan.bytes).toBe(sent);
  },
);

test('takes a pass that could not shrink enough for irreducible', async () => {
  const compress = async () => ({ kind: 'compressed', bytes: body(8100) }) as const;
  expect(await prepareExchange(body(8150), { endpoint, call }, partsWith(compress))).toMatchObject({
    reason: 'irreducible',
  });
});

test('only clamps where the client asks for that', async () => {
  const compress = vi.fn(async () => ({ kind: 'compressed', bytes: body(1) }) as const);
  const plan = await prepareExchange(body(5900), { endpoint, call, clampOnly: true }, partsWith(compress));
  expect(plan).toMatchObject({ action: 'unchanged', reason: 'requires_compression' });
  expect(compress).not.toHaveBeenCalled();
});

test("forwards the client's own bytes where an engine throws (internal_error)", async () => {
  const sent = body(5900);
  const broken = async () => {
    throw new RangeError('x');
  };
  const plan = await prepareExchange(sent, { endpoint, call }, partsWith(broken));
  expect(plan).toMatchObject({ action: 'unchanged', reason: 'internal_error' });
  expect(plan.bytes).toBe(sent);
});

test('stops when the client goes, whatever the engine is doing', async () => {
  const gone = new AbortController();
  const compress = async () => {
    gone.abort();
    throw new Error('stopped');
  };
  const exchange = prepareExchange(
    body(5900),
    { endpoint, call: { ...call, signal: gone.signal } },
    partsWith(compress),
  );
  await expect(exchange).rejects.toMatchObject({ name: 'AbortError' });
});
