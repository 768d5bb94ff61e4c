import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { callOf, contextFor, failed, failureOf, HELLO, requestOf, vllm } from './support/contexts.js';
import { counted, json, listen } from './support/tokenizer-stub.js';

/** A stub that answers when it is told to, and a backend that tells what its cache did. */
async function held() {
  const responses: ServerResponse[] = [];
  const stub = await listen((response) => responses.push(response));
  const cache: string[] = [];
  const backend = vllm(contextFor(stub.url, {}, { observer: { onCache: (result) => cache.push(result) } }));
  const release = (index: number, tokens: number) => counted(responses[index] as ServerResponse, tokens);
  const refuse = (index: number) => json(responses[index] as ServerResponse, {}, 500);
  return { stub, backend, cache, release, refuse };
}

const VARIANTS = [
  HELLO,
  { ...HELLO, model: 'n' },
  { ...HELLO, tools: [{ type: 'function', function: { name: 't' } }] },
  { ...HELLO, chat_template_kwargs: { enable_thinking: false } },
  { ...HELLO, reasoning_effort: 'high' },
  { ...HELLO, documents: [{ text: 'x' }] },
  { ...HELLO, add_generation_prompt: false },
  { ...HELLO, chat_template: 'x' },
  { model: 'm', messages: [{ role: 'user', content: 'hello', reasoning_content: 'x' }] },
];

test('what changes the prompt makes another count (bug cases 17, 18 and 25, BerriAI/litellm#32899)', async () => {
  const stub = await listen((response, _arrived, index) => counted(response, index + 1));
  const backend = vllm(contextFor(stub.url));
  for (const round of [1, 2]) {
    for (const [i, body] of VARIANTS.entries()) {
      expect((await backend.count(requestOf(body), callOf())).tokens, `round ${round}`).toBe(i + 1);
    }
  }
  expect(stub.arrived).toHaveLength(VARIANTS.length);
});

test('tools are counted with the messages (bug case 17, router-for-me/CLIProxyAPI#679)', async () => {
  const stub = await listen((response, { body }) =>
    counted(response, body.includes('"tools":[{') ? 3900 : 100),
  );
  const backend = vllm(contextFor(stub.url));
  const tools = [{ type: 'function', function: { name: 't', parameters: { type: 'object' } } }];
  expect((await backend.count(requestOf(HELLO), callOf())).tokens).toBe(100);
  expect((await backend.count(requestOf({ ...HELLO, tools }), callOf())).tokens).toBe(3900);
  expect(JSON.parse(stub.arrived[1]?.body ?? '').tools).toEqual(tools);
});

test('what does not change the prompt shares the count', async () => {
  const stub = await listen((response, _arrived, index) => counted(response, index + 1));
  const backend = vllm(contextFor(stub.url));
  for (const extra of [{}, { temperature: 1 }, { max_tokens: 5, stream: true }, { user: 'u', seed: 1 }]) {
    expect((await backend.count(requestOf({ ...HELLO, ...extra }), callOf())).tokens).toBe(1);
  }
  expect(stub.arrived).toHaveLength(1);
});

test('equal counts that are asked for at once cost one call', async () => {
  const { stub, backend, cache, release } = await held();
  const counts = [1, 2, 3].map(() => backend.count(requestOf(HELLO), callOf()));
  await stub.arrivals(1);
  release(0, 9);
  expect((await Promise.all(counts)).map(({ tokens }) => tokens)).toEqual([9, 9, 9]);
  expect(stub.arrived).toHaveLength(1);
  await backend.count(requestOf(HELLO), callOf());
  expect(cache).toEqual(['miss', 'shared', 'shared', 'hit']);
});

test('a waiter that leaves does no harm to the others, whoever asked first', async () => {
  const { stub, backend, release } = await held();
  const first = new AbortController();
  const left = backend.count(requestOf(HELLO), callOf({ signal: first.signal }));
  const stays = backend.count(requestOf(HELLO), callOf());
  await stub.arrivals(1);
  first.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  release(0, 9);
  expect(await stays).toMatchObject({ tokens: 9 });
  expect(stub.arrived).toHaveLength(1);
});

test('the call is aborted when its last waiter left, and who comes then starts a new one', async () => {
  const { stub, backend, release } = await held();
  const clients = [new AbortController(), new AbortController()];
  const counts = clients.map(({ signal }) => backend.count(requestOf(HELLO), callOf({ signal })));
  const all = Promise.allSettled(counts);
  await stub.arrivals(1);
  for (const client of clients) client.abort(new Error('left'));
  expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const later = backend.count(requestOf(HELLO), callOf());
  await stub.arrived[0]?.closed;
  await stub.arrivals(2);
  release(1, 4);
  expect(await later).toMatchObject({ tokens: 4 });
  expect(backend.health?.()).toEqual({ state: 'closed', calls: 2, failures: 0 });
});

test('a failure reaches all who wait for it, and is not kept', async () => {
  const { stub, backend, refuse } = await held();
  const failures = [1, 2].map(() => failureOf(backend.count(requestOf(HELLO), callOf())));
  await stub.arrivals(1);
  refuse(0);
  expect(await Promise.all(failures)).toEqual([failed('status'), failed('status')]);
  stub.answer = (response) => counted(response, 3);
  expect(await backend.count(requestOf(HELLO), callOf())).toMatchObject({ tokens: 3 });
});

test('one client’s wrong key does not fail another who asks the same at the same time', async () => {
  const { stub, backend } = await held();
  stub.answer = (response, { headers }) => {
    if (headers.authorization === 'Bearer good') counted(response, 3);
    else json(response, { error: 'Unauthorized' }, 401);
  };
  const bad = failureOf(backend.count(requestOf(HELLO), callOf({ credential: 'Bearer bad' })));
  const good = backend.count(requestOf(HELLO), callOf({ credential: 'Bearer good' }));
  expect(await bad).toEqual(failed('status'));
  expect(await good).toMatchObject({ tokens: 3 });
});

test('a fresh count asks again, whatever is cached or in flight, and its result is kept', async () => {
  const stub = await listen((response, _arrived, index) => counted(response, index + 1));
  const backend = vllm(contextFor(stub.url));
  const countOf = async (fresh: boolean) => (await backend.count(requestOf(HELLO), callOf({ fresh }))).tokens;
  expect(await countOf(false)).toBe(1);
  expect(await countOf(true)).toBe(2);
  expect(await countOf(false)).toBe(2);
});

test('clearing the cache voids what is in flight: its waiters get it, nobody else does', async () => {
  const { stub, backend, release } = await held();
  const before = backend.count(requestOf(HELLO), callOf());
  await stub.arrivals(1);
  backend.clearCache();
  const after = backend.count(requestOf(HELLO), callOf());
  await stub.arrivals(2);
  release(1, 2);
  expect(await after).toMatchObject({ tokens: 2 });
  release(0, 1);
  expect(await before).toMatchObject({ tokens: 1 });
  expect(await backend.count(requestOf(HELLO), callOf())).toMatchObject({ tokens: 2 });
  expect(stub.arrived).toHaveLength(2);
});

test('two tokenizers do not share a count', async () => {
  const stub = await listen((response, _arrived, index) => counted(response, index + 1));
  const byModel = new Map([['x', `${stub.url}/x`]]);
  const backend = vllm(contextFor(stub.url, { urlByModel: byModel }));
  byModel.set('m', `${stub.url}/m`);
  expect(await backend.count(requestOf(HELLO), callOf())).toMatchObject({ tokens: 1 });
  byModel.delete('m');
  expect(await backend.count(requestOf(HELLO), callOf())).toMatchObject({ tokens: 2 });
});

test('a length that the operator stated and one that was discovered do not share a count', async () => {
  const stub = await listen((response) => counted(response, 5, 32_768));
  const backend = vllm(contextFor(stub.url));
  await backend.count(requestOf(HELLO), callOf({ configured: false }));
  expect(await failureOf(backend.count(requestOf(HELLO), callOf({ configured: true })))).toEqual(
    failed('window_mismatch'),
  );
});
