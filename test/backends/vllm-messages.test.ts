import { describe, expect, test } from 'vitest';
import {
  callOf,
  contextFor,
  failed,
  failureOf,
  HELLO,
  MODEL_UNKNOWN,
  requestOf,
  vllm,
} from './support/contexts.js';
import { json, listen } from './support/tokenizer-stub.js';
import { OPEN, vllmServer } from './support/vllm-server.js';

const messages = callOf({ ...OPEN, path: '/v1/messages' });

describe('a message in the form of Anthropic', () => {
  test('is counted by the server, from its own bytes', async () => {
    const stub = await vllmServer();
    const body = '{ "system":"\\u00e9","messages":[],"model":"m","max_tokens":5 }';
    expect(await vllm(contextFor(stub.url)).count(requestOf(body), messages)).toEqual({ tokens: 14 });
    expect(stub.arrived.map((one) => [one.path, one.body])).toEqual([['/v1/messages/count_tokens', body]]);
  });

  test("shows its own server the client's credential, and no other", async () => {
    const stub = await vllmServer();
    const elsewhere = await vllmServer();
    const call = { ...messages, credential: 'Bearer client', apiKey: 'sk-client' };
    const backend = vllm(contextFor(stub.url, { url: `${elsewhere.url}/tokenize`, apiKey: 'tokenizer' }));
    await backend.count(requestOf(HELLO), call);
    await backend.count(requestOf(HELLO), { ...call, path: undefined });
    const sent = (one: typeof stub) =>
      one.arrived.map(({ headers }) => [headers.authorization, headers['x-api-key']]);
    expect(sent(stub)).toEqual([['Bearer client', 'sk-client']]);
    expect(sent(elsewhere)).toEqual([['Bearer tokenizer', undefined]]);
  });

  test.each([
    ['is not counted before vLLM has the endpoint', { detail: 'Not Found' }, 404, failed('unsupported')],
    [
      'beyond the context is refused, so not counted',
      { error: { message: 'too long' } },
      400,
      failed('status'),
    ],
    ['is not counted by an answer of another kind', { tokens: 3 }, 200, failed('bad_answer')],
    [
      'of an unknown model passes',
      { type: 'error', error: { type: 'NotFoundError', message: 'The model `x` does not exist.' } },
      404,
      MODEL_UNKNOWN,
    ],
  ])('%s', async (_what, body, status, failure) => {
    const stub = await listen((answer) => json(answer, body, status));
    const backend = vllm(contextFor(stub.url));
    for (let i = 0; i < (status === 200 ? 1 : 4); i += 1)
      expect(await failureOf(backend.count(requestOf({ ...HELLO, i }), messages))).toEqual(failure);
    if (status !== 200) expect(backend.health?.().state).toBe('closed');
  });

  test('asks a server that has no such endpoint once in half a minute, for each model', async () => {
    let isUpgraded = false;
    let now = 0;
    const stub = await listen((answer) =>
      isUpgraded ? json(answer, { input_tokens: 3 }) : json(answer, { detail: 'Not Found' }, 404),
    );
    const backend = vllm(contextFor(stub.url), { now: () => now });
    const count = (model: string, i: number, more = {}) =>
      backend.count(requestOf({ ...HELLO, model, i }), { ...messages, ...more });
    for (let i = 0; i < 3; i += 1) expect(await failureOf(count('m', i))).toEqual(failed('unsupported'));
    expect(stub.arrived).toHaveLength(1);
    expect(await failureOf(count('other', 0))).toEqual(failed('unsupported'));
    expect(stub.arrived).toHaveLength(2);
    isUpgraded = true;
    now = 30_000;
    expect(await failureOf(count('m', 0))).toEqual(failed('unsupported'));
    expect(await count('other', 0, { fresh: true })).toEqual({ tokens: 3 });
    now = 30_001;
    expect(await count('m', 0)).toEqual({ tokens: 3 });
  });

  test('shares a count with all that differ beside the prompt only', async () => {
    const stub = await vllmServer();
    const backend = vllm(contextFor(stub.url));
    for (const more of [{}, { max_tokens: 5 }, { stream: true }]) {
      await backend.count(requestOf({ ...HELLO, ...more }), messages);
    }
    expect(stub.arrived).toHaveLength(1);
    backend.clearCache();
    await backend.count(requestOf(HELLO), messages);
    expect(stub.arrived).toHaveLength(2);
  });
});

test('where a count does not tell the context length, a fresh one asks for it', async () => {
  const stub = await listen((answer, { path }) =>
    json(answer, path === '/v1/models' ? { data: [{ id: 'm', max_model_len: 2048 }] } : { input_tokens: 3 }),
  );
  const backend = vllm(contextFor(stub.url));
  expect(await backend.count(requestOf(HELLO), { ...messages, fresh: true })).toEqual({
    tokens: 3,
    contextLength: 2048,
  });
});

test('says what it counts', async () => {
  const backend = vllm(contextFor('http://127.0.0.1:9'));
  for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/responses', '/v1/messages'])
    expect(backend.counts?.(path)).toBe(true);
  expect(backend.counts?.('/v1/embeddings')).toBe(false);
  const count = backend.count(requestOf(HELLO), callOf({ path: '/v1/embeddings' }));
  expect(await failureOf(count)).toEqual(failed('unsupported'));
});
