import { afterEach, describe, expect, test } from 'vitest';
import type { Backend, BackendFactory } from '../../src/backends/contract.js';
import { postChat, startProxy, type TestProxy, told } from '../support/proxy.js';
import { CHAT, json, type StubRoute, startStub, type UpstreamStub } from '../support/upstream-stub.js';

let stub: UpstreamStub;
let proxy: TestProxy;

afterEach(async () => {
  await proxy.close();
  await stub.close();
});

const BODY = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'q' }],
  max_tokens: 1_000_000,
});

async function startWith(tokenize: StubRoute, flags: Record<string, string> = {}): Promise<void> {
  stub = await startStub({ window: 4096, count: 10, routes: { 'POST /tokenize': tokenize } });
  proxy = await startProxy({ upstream: stub.url, 'tokenizer-timeout-seconds': '0.3', ...flags });
  await proxy.ready();
}

function sentCap(): number {
  return (JSON.parse(stub.only(CHAT).body.toString()) as { max_tokens: number }).max_tokens;
}

describe('answers with the estimate and its margin when the tokenizer', () => {
  const page = '<html>gateway</html>';
  const faults: [string, StubRoute][] = [
    ['breaks the connection', (_request, response) => response.destroy()],
    ['does not answer in time', () => undefined],
    ['wants a credential', (_request, response) => json(response, 401, { error: 'Unauthorized' })],
    ['has no such path', (_request, response) => json(response, 404, { detail: 'Not Found' })],
    ['fails', (_request, response) => json(response, 500, { error: 'x' })],
    ['redirects', (_request, response) => response.writeHead(307, { location: '/tokenize2' }).end()],
    [
      'answers HTML',
      (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(page),
    ],
    ['answers a list', (_request, response) => json(response, 200, [])],
    ['counts in text', (_request, response) => json(response, 200, { count: '10', max_model_len: 4096 })],
    ['counts below zero', (_request, response) => json(response, 200, { count: -1, max_model_len: 4096 })],
    ['counts in fractions', (_request, response) => json(response, 200, { count: 1.5, max_model_len: 4096 })],
    [
      'breaks off',
      (_request, response) =>
        response.writeHead(200, { 'content-length': 99 }).write('{"count"') && response.destroy(),
    ],
  ];

  test.each(faults)('%s', async (_what, tokenize) => {
    await startWith(tokenize);
    const response = await postChat(proxy.url, BODY);
    expect(response.status).toBe(200);
    const promptTokens = Number(told(response)['prompt-tokens']);
    expect(told(response)).toMatchObject({
      action: 'clamped',
      source: 'rough-fallback',
      reason: 'cap_lowered',
    });
    expect(promptTokens).toBeGreaterThan(64);
    expect(sentCap()).toBe(4096 - promptTokens);
    expect(stub.at('/tokenize2')).toHaveLength(0);
  });
});

test('says what failed once, with a code and a type, and counts it', async () => {
  await startWith((_request, response) => json(response, 500, { error: 'marked-secret' }));
  await postChat(proxy.url, BODY);
  await postChat(proxy.url, BODY);
  const warnings = proxy.logged.filter((line) => line.level === 40);
  expect(warnings).toEqual([expect.objectContaining({ code: 'status', type: 'CountFailedError' })]);
  const metrics = await (await fetch(`${proxy.url}/incontext/metrics`)).text();
  expect(metrics).toContain('incontext_tokenizer_failures_total{reason="status"} 2');
});

test('never rejects for an estimate that may be wrong (tdarwin/pandoras_gate#26)', async () => {
  await startWith((_request, response) => json(response, 500, {}));
  const body = JSON.stringify({
    model: 'm',
    messages: [{ role: 'user', content: '漢'.repeat(20_000) }],
    max_tokens: 500,
  });
  const response = await postChat(proxy.url, body);
  expect(response.status).toBe(200);
  expect(stub.only(CHAT).body.toString()).toBe(body);
  expect(told(response)).toMatchObject({
    action: 'unchanged',
    reason: 'requires_compression',
    source: 'rough-fallback',
  });
});

test('forwards unchanged where the server does not know the model, and its own 404 comes back', async () => {
  const unknown = {
    error: { message: 'The model `nope` does not exist.', type: 'NotFoundError', param: 'model', code: 404 },
  };
  stub = await startStub({
    routes: {
      'POST /tokenize': (_request, response) => json(response, 404, unknown),
      [`POST ${CHAT}`]: (_request, response) => json(response, 404, unknown),
    },
  });
  proxy = await startProxy({ upstream: stub.url });
  const body = BODY.replace('"m"', '"nope"');
  const response = await postChat(proxy.url, body);
  expect(response.status).toBe(404);
  expect(await response.json()).toEqual(unknown);
  expect(stub.only(CHAT).body.toString()).toBe(body);
  expect(told(response)).toEqual({ action: 'unchanged', source: 'none', reason: 'model_unknown' });
});

test('forwards unchanged where nothing tells the context length', async () => {
  stub = await startStub({
    models: [{ id: 'm' }],
    routes: { 'POST /tokenize': (_request, response) => json(response, 500, {}) },
  });
  proxy = await startProxy({ upstream: stub.url });
  const response = await postChat(proxy.url, BODY.replace('1000000', '50'));
  expect(response.status).toBe(200);
  expect(told(response)).toEqual({ action: 'unchanged', source: 'none', reason: 'window_unknown' });
});

test("asks the model list with the client's own credential where only that is let in", async () => {
  stub = await startStub({
    routes: {
      'GET /v1/models': (request, response) =>
        request.headers.authorization === 'Bearer client'
          ? json(response, 200, { data: [{ id: 'm', max_model_len: 4096 }] })
          : json(response, 401, { error: 'Unauthorized' }),
      'POST /tokenize': (_request, response) => json(response, 500, {}),
    },
  });
  proxy = await startProxy({ upstream: stub.url });
  await proxy.ready();
  const response = await postChat(proxy.url, BODY, { authorization: 'Bearer client' });
  expect(told(response)).toMatchObject({
    action: 'clamped',
    source: 'rough-fallback',
    'context-length': '4096',
  });
});

test('counts where the model list is refused: the count reports the length', async () => {
  stub = await startStub({
    count: 96,
    routes: { 'GET /v1/models': (_request, response) => json(response, 401, {}) },
  });
  proxy = await startProxy({ upstream: stub.url });
  const response = await postChat(proxy.url, BODY);
  expect(told(response)).toMatchObject({ action: 'clamped', source: 'vllm-tokenize', 'max-tokens': '4000' });
});

describe('with a backend of a third party', () => {
  const backendThat =
    (broken: Partial<Backend>): BackendFactory =>
    () => ({
      source: 'acme',
      describe: async () => 4096,
      count: async () => ({ tokens: 3000 }),
      clearCache() {},
      ...broken,
    });
  const fault = () => {
    throw new RangeError('marked-secret');
  };

  test.each<[string, Partial<Backend>]>([
    ['a negative count', { count: async () => ({ tokens: -1 }) }],
    ['a count that is no integer', { count: async () => ({ tokens: 1.5 }) }],
    ['a cap reading that throws', { coerceOutputBudget: fault }],
    ['a cap reading of nonsense', { coerceOutputBudget: () => -3 }],
    ['a limit that throws', { outputBudgetLimit: fault }],
    ['a limit of nonsense', { outputBudgetLimit: () => Number.NaN }],
    ['a field that throws', { outputBudgetField: fault }],
  ])('%s leaves the request as it is: backend_contract_failed', async (_what, broken) => {
    stub = await startStub({ count: 3000 });
    proxy = await startProxy({ upstream: stub.url }, { backend: backendThat(broken) });
    const response = await postChat(proxy.url, BODY);
    expect(stub.only(CHAT).body.toString()).toBe(BODY);
    expect(told(response)).toMatchObject({ action: 'unchanged', reason: 'backend_contract_failed' });
    expect(JSON.stringify(proxy.logged)).not.toContain('marked-secret');
  });

  test.each(['é€', 'a\r\nx-evil: 1', '', 'x'.repeat(65)])(
    'a source of %j is no header value and costs nothing else',
    async (source) => {
      stub = await startStub({ count: 3000 });
      proxy = await startProxy({ upstream: stub.url }, { backend: backendThat({ source }) });
      const response = await postChat(proxy.url, BODY);
      expect(told(response)).toMatchObject({ action: 'clamped', source: 'unknown-backend' });
      expect(response.headers.get('x-evil')).toBeNull();
    },
  );

  test('a count that never comes is given up after the tokenizer timeout', async () => {
    stub = await startStub({ count: 3000 });
    const flags = { upstream: stub.url, 'tokenizer-timeout-seconds': '0.1' };
    proxy = await startProxy(flags, { backend: backendThat({ count: () => new Promise(() => {}) }) });
    await proxy.ready();
    expect(told(await postChat(proxy.url, BODY))).toMatchObject({
      action: 'clamped',
      source: 'rough-fallback',
    });
  });

  test('a health that throws leaves the status, without a word of the exception', async () => {
    stub = await startStub({ count: 3000 });
    proxy = await startProxy({ upstream: stub.url }, { backend: backendThat({ health: fault }) });
    const response = await fetch(`${proxy.url}/incontext/status`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ tokenizer: { state: 'unknown', calls: 0, failures: 0 } });
  });

  test.each([5, [null, { id: 3 }, { id: 'm', contextLength: 4096 }], null])(
    'a model list of %j hurts nothing',
    async (models) => {
      stub = await startStub({ count: 3000 });
      proxy = await startProxy(
        { upstream: stub.url },
        { backend: backendThat({ models: async () => models as never }) },
      );
      await proxy.ready();
      expect(told(await postChat(proxy.url, BODY))).toMatchObject({
        action: 'clamped',
        'max-tokens': '1096',
      });
      expect((await fetch(`${proxy.url}/incontext/status`)).status).toBe(200);
    },
  );

  test.each<[string, Backend['close']]>([
    ['throws', async () => fault()],
    ['never comes back', () => new Promise(() => {})],
  ])('a close that %s does not keep the proxy from ending', async (_what, close) => {
    stub = await startStub({ count: 3000 });
    const ending = await startProxy({ upstream: stub.url }, { backend: backendThat({ close }) });
    await ending.close();
    proxy = await startProxy({ upstream: stub.url });
  });

  test('a source that throws does not cost the decision', async () => {
    stub = await startStub({ count: 3000 });
    const backend = () => ({
      get source(): string {
        throw new Error('x');
      },
      describe: async () => 4096,
      count: async () => ({ tokens: 3000 }),
      clearCache() {},
    });
    proxy = await startProxy({ upstream: stub.url }, { backend });
    expect(told(await postChat(proxy.url, BODY))).toMatchObject({
      action: 'clamped',
      source: 'unknown-backend',
    });
  });

  test("an unforeseen fault of ours forwards the client's own bytes: internal_error", async () => {
    stub = await startStub({ count: 3000 });
    proxy = await startProxy(
      { upstream: stub.url },
      { backend: backendThat({ count: async () => null as never }) },
    );
    const response = await postChat(proxy.url, BODY);
    expect(told(response).action).toBe('clamped');
    expect(told(response).source).toBe('rough-fallback');
  });
});
