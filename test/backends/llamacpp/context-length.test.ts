import { expect, test } from 'vitest';
import { callOf, contextFor, failed, failureOf, HELLO, requestOf } from '../support/contexts.js';
import { listOf, llamacpp, llamacppServer } from '../support/llamacpp-stub.js';
import { json } from '../support/tokenizer-stub.js';

const OPEN = { configured: false, contextLength: undefined } as const;

test('the length is the context of one slot, under any name of the model', async () => {
  const server = await llamacppServer();
  const backend = llamacpp(contextFor(server.url));
  for (const model of ['smol', 'gpt-4', undefined]) {
    expect(await backend.describe(model, callOf())).toBe(2048);
    expect((await backend.count(requestOf({ ...HELLO, model }), callOf(OPEN))).contextLength).toBe(2048);
  }
});

test('a server whose list has no length tells it in its properties', async () => {
  const server = await llamacppServer({
    '/v1/models': (response) => json(response, listOf(undefined)),
    '/props': (response) => json(response, { default_generation_settings: { n_ctx: 512 } }),
  });
  expect(await llamacpp(contextFor(server.url)).models?.(callOf())).toEqual([
    { id: 'smol', contextLength: 512 },
  ]);
});

test('of several models each has its own length, and an unknown one none', async () => {
  const data = [...listOf(512, 'a').data, ...listOf(1024, 'b').data];
  const server = await llamacppServer({ '/v1/models': (response) => json(response, { data }) });
  const backend = llamacpp(contextFor(server.url));
  expect(await backend.describe('b', callOf())).toBe(1024);
  expect(await backend.describe('c', callOf())).toBeUndefined();
});

test('a fresh count knows the length of a server that came back with another one', async () => {
  let length = 2048;
  const server = await llamacppServer({ '/v1/models': (response) => json(response, listOf(length)) });
  const backend = llamacpp(contextFor(server.url));
  const count = (fresh: boolean) => backend.count(requestOf(HELLO), callOf({ ...OPEN, fresh }));
  await count(false);
  length = 1024;
  expect((await count(false)).contextLength).toBe(2048);
  expect((await count(true)).contextLength).toBe(1024);
});

test('the length that was read long ago is read anew', async () => {
  let now = 0;
  const server = await llamacppServer();
  const backend = llamacpp(contextFor(server.url), { now: () => now });
  for (now of [0, 10_000, 40_001]) await backend.count(requestOf(HELLO), callOf(OPEN));
  expect(server.at('/v1/models')).toHaveLength(2);
});

test('another length than the configured one is no exact count', async () => {
  const server = await llamacppServer();
  const backend = llamacpp(contextFor(server.url));
  const count = (contextLength: number) =>
    backend.count(requestOf(HELLO), callOf({ configured: true, contextLength }));
  expect(await failureOf(count(4096))).toEqual(failed('window_mismatch'));
  expect((await count(2048)).tokens).toBe(12);
});

test('a server that does not answer has no length, and no models', async () => {
  const backend = llamacpp(contextFor('http://127.0.0.1:9'));
  expect(await backend.describe('smol', callOf())).toBeUndefined();
  await expect(backend.models?.(callOf())).rejects.toMatchObject({ code: 'unreachable' });
});
