import { expect, test } from 'vitest';
import { callOf, contextFor, failed, failureOf, vllm } from './support/contexts.js';
import { json, listen, raw } from './support/tokenizer-stub.js';

test('every model of the list is described, the first one first, odd lengths as unknown', async () => {
  const lengths = [8192, null, undefined, 0, -1, 1.5, '4096', true, 1e20];
  const data = lengths.map((max_model_len, i) => ({ id: `m${i}`, object: 'model', max_model_len }));
  const stub = await listen((response) => json(response, { object: 'list', data }));
  const backend = vllm(contextFor(stub.url));
  expect(await backend.models?.(callOf())).toEqual(
    lengths.map((_, i) => ({ id: `m${i}`, contextLength: i === 0 ? 8192 : undefined })),
  );
  expect(stub.arrived[0]).toMatchObject({ method: 'GET', path: '/v1/models' });
});

test('a model is described by its own card; without a name the first model is meant', async () => {
  const data = [
    { id: 'a', max_model_len: 4096 },
    { id: 'b', max_model_len: 32_768 },
  ];
  const stub = await listen((response) => json(response, { data }));
  const backend = vllm(contextFor(stub.url));
  expect(await backend.describe('b', callOf())).toBe(32_768);
  expect(await backend.describe(undefined, callOf())).toBe(4096);
  expect(await backend.describe('c', callOf())).toBeUndefined();
});

test('a list that cannot be had rejects, and describes nothing', async () => {
  const stub = await listen((response) => json(response, { error: 'Unauthorized' }, 401));
  const backend = vllm(contextFor(stub.url));
  const models = () => failureOf(Promise.resolve(backend.models?.(callOf())));
  expect(await models()).toEqual(failed('status'));
  expect(await backend.describe('m', callOf())).toBeUndefined();
  for (const body of ['<html>', '[]', '{"data":5}', '{"data":[{"name":"m"}]}']) {
    stub.answer = (response) => raw(response, body);
    expect(await models()).toEqual(failed('bad_answer'));
  }
  stub.answer = (response) => raw(response, `[${'"x",'.repeat(3_000_000)}1]`);
  expect(await models()).toEqual(failed('bad_answer'));
  await stub.close();
  expect(await models()).toEqual(failed('unreachable'));
});

test('one odd card does not hide the others', async () => {
  const cards = [null, { id: null }, { id: 'a', max_model_len: 4096 }, 5];
  const stub = await listen((response) => json(response, { data: cards }));
  expect(await vllm(contextFor(stub.url)).models?.(callOf())).toEqual([{ id: 'a', contextLength: 4096 }]);
});

test('an abort of the caller is not swallowed by a description', async () => {
  const stub = await listen(() => {});
  const client = new AbortController();
  const described = vllm(contextFor(stub.url)).describe('m', callOf({ signal: client.signal }));
  await stub.arrivals(1);
  client.abort(new Error('left'));
  await expect(described).rejects.toThrow('left');
});
