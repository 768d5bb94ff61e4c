import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { exchanges, REAL, type Stage, setStage, told } from './support/stage.js';

interface Load {
  readonly url: string;
  readonly connections: number;
  /** Requests, of all connections together. */
  readonly amount?: number;
  /** Seconds. */
  readonly duration?: number;
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Result {
  readonly errors: number;
  readonly '2xx': number;
  readonly non2xx: number;
}

/** It has no types of its own. */
const autocannon = createRequire(import.meta.url)('autocannon') as (load: Load) => Promise<Result>;

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage.close());

const amount = REAL === undefined ? 60 : 12;

function load(proxyUrl: string, body: object): Load {
  return {
    url: `${proxyUrl}/v1/chat/completions`,
    connections: 6,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: stage.model, ...body }),
  };
}

async function untilIdle(proxyUrl: string): Promise<void> {
  await vi.waitFor(async () => {
    const status = await (await fetch(`${proxyUrl}/incontext/status`)).json();
    expect(status).toMatchObject({ in_flight: 0 });
  }, 10_000);
}

test.each([false, true])('every request of many at once is answered; streamed: %s', async (stream) => {
  const messages = [{ role: 'user', content: told('hi', { text: 'hello there' }) }];
  const before = exchanges(stage.clamping).length;
  const body = { messages, max_tokens: 1_000_000, stream };
  const { errors, non2xx, ...rest } = await autocannon({ ...load(stage.clamping.url, body), amount });
  expect({ errors, non2xx, answered: rest['2xx'] }).toEqual({ errors: 0, non2xx: 0, answered: amount });
  await untilIdle(stage.clamping.url);
  const done = exchanges(stage.clamping).slice(before);
  expect(new Set(done.map(({ action, outcome }) => `${action} ${outcome}`))).toEqual(
    new Set(['clamped complete']),
  );
});

test('the same long conversation from many at once is compressed once, and answered everywhere', async () => {
  const turns = Array.from({ length: 12 }, (_, at) => [
    { role: 'user', content: `What of site ${at}? ${'Please be precise. '.repeat(12)}` },
    { role: 'assistant', content: `Site ${at} is dry. ${'The ground there is firm. '.repeat(9)}` },
  ]).flat();
  const messages = [...turns, { role: 'user', content: told('and now?', { text: 'All well.' }) }];
  const body = { messages, max_tokens: 8 };
  const { errors, non2xx, ...rest } = await autocannon({ ...load(stage.compressing.url, body), amount });
  expect({ errors, non2xx, answered: rest['2xx'] }).toEqual({ errors: 0, non2xx: 0, answered: amount });
  await untilIdle(stage.compressing.url);
  const reasons = exchanges(stage.compressing).map(({ reason }) => reason);
  expect(new Set(reasons)).toEqual(new Set(['compression_due', 'checkpoint_reused']));
  const status = await (await fetch(`${stage.compressing.url}/incontext/conversations`)).json();
  expect(status).toMatchObject({ conversations: [{ compressions: 1 }] });
});

test('nothing goes on after all have left in the middle of their streams', async () => {
  const messages = [{ role: 'user', content: told('hi', { tokens: 2000, chunk_delay_ms: 20 }) }];
  const before = stage.relay.aborted;
  stage.relay.leaveOpen(6);
  await autocannon({ ...load(stage.plain.url, { messages, max_tokens: 2000, stream: true }), duration: 1 });
  await vi.waitFor(() => expect(stage.relay.aborted).toBe(before + 6), 10_000);
  await untilIdle(stage.plain.url);
});
