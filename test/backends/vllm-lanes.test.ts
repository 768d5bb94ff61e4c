import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { LONG_BYTES } from '../../src/backends/calls/count-lanes.js';
import { callOf, contextFor, requestOf, vllm } from './support/contexts.js';
import { counted, listen } from './support/tokenizer-stub.js';

const long = (name: string) =>
  requestOf({ model: 'm', messages: [{ role: 'user', content: name.padEnd(LONG_BYTES, ' x') }] });
const short = (name: string) => requestOf({ model: 'm', messages: [{ role: 'user', content: name }] });

/** A server that answers when it is told to. */
async function held(options: unknown = undefined) {
  const responses: ServerResponse[] = [];
  const stub = await listen((response) => responses.push(response));
  const backend = vllm(contextFor(stub.url, {}, { options }));
  const names = () => stub.arrived.map(({ body }) => /"content":"(\w+)/.exec(body)?.[1]);
  const release = (index: number) => counted(responses[index] as ServerResponse, index);
  return { stub, backend, names, release };
}

test('long prompts are counted one by one, and short ones do not wait behind those that wait', async () => {
  const { stub, backend, names, release } = await held();
  const counts = ['first', 'second', 'third'].map((name) => backend.count(long(name), callOf()));
  await stub.arrivals(1);
  counts.push(backend.count(short('short'), callOf()));
  await stub.arrivals(2);
  expect(names()).toEqual(['first', 'short']);
  for (const index of [0, 1]) release(index);
  await stub.arrivals(3);
  expect(names()).toEqual(['first', 'short', 'second']);
  release(2);
  await stub.arrivals(4);
  release(3);
  expect((await Promise.all(counts)).map(({ tokens }) => tokens)).toEqual([0, 2, 3, 1]);
});

test('long_counts_at_once lets more of them through', async () => {
  const { stub, backend, names, release } = await held({ long_counts_at_once: 2 });
  const counts = ['a', 'b', 'c'].map((name) => backend.count(long(name), callOf()));
  await stub.arrivals(2);
  expect(names()).toHaveLength(2);
  for (const index of [0, 1]) release(index);
  await stub.arrivals(3);
  release(2);
  await Promise.all(counts);
});

test('who leaves while it waits for its turn is never sent, and does not keep others from theirs', async () => {
  const { stub, backend, names, release } = await held();
  const gone = new AbortController();
  const first = backend.count(long('first'), callOf());
  await stub.arrivals(1);
  const left = backend.count(long('left'), callOf({ signal: gone.signal }));
  const stays = backend.count(long('stays'), callOf());
  gone.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  release(0);
  await first;
  await stub.arrivals(2);
  release(1);
  await stays;
  expect(names()).toEqual(['first', 'stays']);
});

test('equal long prompts that are asked for at once are counted once', async () => {
  const { stub, backend, release } = await held();
  const counts = [1, 2, 3].map(() => backend.count(long('same'), callOf()));
  await stub.arrivals(1);
  release(0);
  await Promise.all(counts);
  expect(stub.arrived).toHaveLength(1);
});
