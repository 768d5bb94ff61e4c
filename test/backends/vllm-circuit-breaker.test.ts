import { expect, test } from 'vitest';
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
import { type Answer, counted, json, listen } from './support/tokenizer-stub.js';

const DOWN: Answer = (response) => json(response, {}, 500);
const UP: Answer = (response) => counted(response, 5);
const REFUSES: Answer = (response) => json(response, {}, 400);
const NO_MODEL: Answer = (response) =>
  json(response, { error: { message: 'The model `m` does not exist.' } }, 404);

async function broken(answer: Answer, urls: Record<string, string> = {}) {
  let now = 0;
  const stub = await listen(answer);
  const context = contextFor(stub.url, { urlByModel: new Map(Object.entries(urls)) });
  const backend = vllm(context, { now: () => now });
  const ask = (signal?: AbortSignal, model = 'm') => {
    const call = callOf({ fresh: true, ...(signal && { signal }) });
    return backend.count(requestOf({ ...HELLO, model }), call);
  };
  const pass = (milliseconds: number): void => {
    now += milliseconds;
  };
  const state = () => backend.health?.().state;
  const fail = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i += 1) expect(await failureOf(ask())).toEqual(failed('status'));
  };
  return { stub, backend, ask, pass, state, fail };
}

test('three failures in a row stop the asking for ten seconds', async () => {
  const { stub, backend, ask, pass, state, fail } = await broken(DOWN);
  await fail(2);
  expect(state()).toBe('closed');
  await fail(1);
  expect(state()).toBe('open');
  expect(await failureOf(ask())).toEqual(failed('circuit_open'));
  pass(9_999);
  expect(await failureOf(ask())).toEqual(failed('circuit_open'));
  expect(stub.arrived).toHaveLength(3);
  expect(backend.health?.()).toEqual({ state: 'open', calls: 3, failures: 3 });
});

test('a success in between starts the counting of failures anew', async () => {
  const { stub, ask, state, fail } = await broken(DOWN);
  await fail(2);
  stub.answer = UP;
  await ask();
  stub.answer = DOWN;
  await fail(2);
  expect(state()).toBe('closed');
});

test('one call probes while all others are refused, and its success closes the circuit', async () => {
  const { stub, ask, pass, state, fail } = await broken(DOWN);
  await fail(3);
  pass(10_000);
  expect(state()).toBe('half_open');
  stub.answer = UP;
  const [probe, other] = [ask(), failureOf(ask())];
  expect(await other).toEqual(failed('circuit_open'));
  expect(await probe).toMatchObject({ tokens: 5 });
  expect(state()).toBe('closed');
  stub.answer = DOWN;
  await fail(3);
  pass(10_000);
  expect(state()).toBe('half_open');
});

test('a probe that fails doubles the time, up to a minute', async () => {
  const { ask, pass, state, fail } = await broken(DOWN);
  await fail(3);
  pass(10_000);
  for (const seconds of [20, 40, 60, 60]) {
    expect(await failureOf(ask())).toEqual(failed('status'));
    pass(seconds * 1000 - 1);
    expect(state()).toBe('open');
    pass(1);
    expect(state()).toBe('half_open');
  }
});

test('after a success the time is ten seconds again', async () => {
  const { stub, ask, pass, state, fail } = await broken(DOWN);
  await fail(3);
  pass(10_000);
  await fail(1);
  pass(20_000);
  stub.answer = UP;
  await ask();
  stub.answer = DOWN;
  await fail(3);
  pass(10_000);
  expect(state()).toBe('half_open');
});

test('refusals are failed counts but no outage', async () => {
  const { stub, ask, state, fail } = await broken(REFUSES);
  await fail(5);
  stub.answer = NO_MODEL;
  for (let i = 0; i < 5; i += 1) expect(await failureOf(ask())).toEqual(MODEL_UNKNOWN);
  expect(state()).toBe('closed');
  stub.answer = DOWN;
  await fail(2);
  stub.answer = REFUSES;
  await fail(1);
  stub.answer = DOWN;
  await fail(1);
  expect(state()).toBe('open');
});

test('a probe that is refused shows that the server is there', async () => {
  const { stub, pass, state, fail } = await broken(DOWN);
  await fail(3);
  pass(10_000);
  stub.answer = REFUSES;
  await fail(1);
  expect(state()).toBe('closed');
});

test('a probe whose client left says nothing: the next call probes', async () => {
  const { stub, ask, pass, state, fail } = await broken(DOWN);
  await fail(3);
  pass(10_000);
  stub.answer = () => {};
  const client = new AbortController();
  const probe = ask(client.signal);
  await stub.arrivals(4);
  client.abort(new Error('left'));
  await expect(probe).rejects.toThrow('left');
  expect(state()).toBe('half_open');
  stub.answer = UP;
  expect(await ask()).toMatchObject({ tokens: 5 });
});

test('failures of calls that began before the circuit opened do not prolong it', async () => {
  const { stub, ask, pass, state } = await broken(() => {});
  const responses: Parameters<Answer>[0][] = [];
  stub.answer = (response) => responses.push(response);
  const failures = [1, 2, 3, 4, 5, 6].map(() => failureOf(ask()));
  await stub.arrivals(6);
  for (const response of responses.slice(0, 3)) json(response, {}, 500);
  await expect.poll(state).toBe('open');
  pass(6_000);
  for (const response of responses.slice(3)) json(response, {}, 500);
  await Promise.all(failures);
  expect(state()).toBe('open');
  pass(4_000);
  expect(state()).toBe('half_open');
});

test('a tokenizer that is down does not stop the asking of another', async () => {
  const other = await listen(UP);
  const { ask, state, fail } = await broken(DOWN, { b: `${other.url}/tokenize` });
  await fail(3);
  expect(await ask(undefined, 'b')).toMatchObject({ tokens: 5 });
  expect(state()).toBe('open');
});

test('the time of each call is observed, failed ones included', async () => {
  const seconds: number[] = [];
  const stub = await listen((response) => setTimeout(() => DOWN(response, stub.arrived[0] as never, 0), 50));
  const backend = vllm(contextFor(stub.url, {}, { observer: { onCall: (took) => seconds.push(took) } }));
  await failureOf(backend.count(requestOf(HELLO), callOf()));
  expect(seconds).toHaveLength(1);
  expect(seconds[0]).toBeGreaterThan(0.04);
  expect(seconds[0]).toBeLessThan(5);
});
