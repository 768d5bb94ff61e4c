import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { CHAT, json, startStub, type UpstreamStub } from '../support/upstream-stub.js';
import type { LoopReport } from './event-loop-probe.js';
import { sentences } from './prose.js';
import { type ProxyProcess, startProxyProcess } from './proxy-process.js';
import { Random } from './random.js';
import { PROVED_CODE, PROVED_ENGINE } from './stage.js';

const PROBE = resolve(import.meta.dirname, 'event-loop-probe.ts');
/** Messages of one conversation: just below the window, and over the soft threshold, so that all are stored. */
const MESSAGES = 250;
const CONVERSATIONS = 400;
/** Some of them go on until they are compressed. */
const GOING_ON = 80;
/** Of a message, about as many as it has. */
const TOKENS = 90;
const CONTEXT = 32_768;
/** Of the delay, in the 99th percentile. What a busy machine adds to it is not the proxy's. */
const BOUND_MS = 20;
/** A machine is calm where the thread waited less for a CPU: then all of the delay counts. */
const CALM_SHARE = 0.1;

let upstream: UpstreamStub;
let proxy: ProxyProcess | undefined;
let data: string;
afterEach(async () => {
  await proxy?.close();
  await upstream.close();
  await rm(data, { recursive: true, force: true });
});

it('conversations go on without delay for others beside a store of 100,000 messages', async () => {
  await start();
  const histories = Array.from({ length: CONVERSATIONS }, (_, at) => messagesOf(at, 0, MESSAGES));
  for (const history of histories) expect(await send(history)).toBe(200);
  const filled = await report();
  const grown = histories
    .slice(0, GOING_ON)
    .map((history, at) => [...history, ...messagesOf(at, MESSAGES, 20)]);
  for (let at = 0; at < grown.length; at += 4) {
    expect(await Promise.all(grown.slice(at, at + 4).map(send))).toEqual([200, 200, 200, 200]);
  }
  const compressed = await report();
  console.log('event loop, filling:', filled, 'compressing:', compressed, `${summaries()} summaries`);
  expect(summaries()).toBeGreaterThanOrEqual(GOING_ON);
  for (const { ownP99, p99, waitedShare } of [filled, compressed]) {
    expect(ownP99).toBeLessThan(BOUND_MS);
    if (waitedShare < CALM_SHARE) expect(p99).toBeLessThan(BOUND_MS);
  }
}, 300_000);

async function start(): Promise<void> {
  upstream = await startStub({
    window: CONTEXT,
    count: ({ messages }) => (Array.isArray(messages) ? messages.length * TOKENS : TOKENS),
    routes: {
      [`POST ${CHAT}`]: (_request, response) => {
        const content = '## Goal\nGo on.\n## Critical Context\nNothing was decided yet.';
        const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
        const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
        json(response, 200, { id: 'c', object: 'chat.completion', choices, usage });
      },
    },
  });
  data = await mkdtemp(join(tmpdir(), 'incontext-proof-'));
  proxy = await startProxyProcess({
    upstream: upstream.url,
    dataDir: data,
    engine: PROVED_ENGINE,
    code: PROVED_CODE,
    nodeArguments: ['--import', 'tsx', '--import', PROBE],
  });
}

function messagesOf(conversation: number, from: number, count: number): unknown[] {
  return Array.from({ length: count }, (_, at) => ({
    role: (from + at) % 2 === 0 ? 'user' : 'assistant',
    content: sentences(new Random(conversation * 1_000 + from + at), 4).join(' '),
  }));
}

async function send(messages: readonly unknown[]): Promise<number> {
  const last = { role: 'user', content: 'And now?' };
  const answer = await fetch(`${proxy?.url}${CHAT}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-proof-run': 'loop/0' },
    body: JSON.stringify({ messages: [...messages, last], max_tokens: 512 }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

function summaries(): number {
  return upstream.at(CHAT).filter(({ headers }) => headers['x-proof-run'] === undefined).length;
}

/** What the probe saw since it was last asked. */
async function report(): Promise<LoopReport> {
  if (proxy === undefined) throw new Error('no proxy is running');
  proxy.child.send('report');
  const [message] = (await once(proxy.child, 'message')) as [LoopReport];
  return message;
}
