import { join } from 'node:path';
import type { Backend } from '../src/backends/contract.js';
import type { Message } from '../src/conversation/message.js';
import type { EngineContext } from '../src/engines/contract.js';
import type { Endpoint } from '../src/exchange/endpoint.js';
import type { ConversationStore } from '../src/store/conversation-store.js';
import { held } from './bar.js';

// As it is shipped: what compiles on the fly costs more.
const DIST = join(import.meta.dirname, '../dist');
const { loadSettings } = (await import(
  join(DIST, 'config/load.js')
)) as typeof import('../src/config/load.js');
const { ContextEngine } = (await import(
  join(DIST, 'engines/contract.js')
)) as typeof import('../src/engines/contract.js');
const { ENDPOINTS } = (await import(
  join(DIST, 'exchange/endpoint.js')
)) as typeof import('../src/exchange/endpoint.js');
const { prepareExchange } = (await import(
  join(DIST, 'exchange/prepare.js')
)) as typeof import('../src/exchange/prepare.js');
const { createLog } = (await import(join(DIST, 'observe/log.js'))) as typeof import('../src/observe/log.js');
const { assemble } = (await import(
  join(DIST, 'server/assemble.js')
)) as typeof import('../src/server/assemble.js');

const { openConversationStore } = (await import(
  join(DIST, 'store/open-conversation-store.js')
)) as typeof import('../src/store/open-conversation-store.js');

/** Of 100 kB, about 25,000 tokens, a conversation is over its window. */
const CONTEXT_LENGTH = 30_000;
const MESSAGE_BYTES = 720;
const MESSAGES = 139;
const ROUNDS = 25;
/** Until the code is compiled for what it is given. */
const WARM_UP_ROUNDS = 15;
const REQUESTS = 20;
/** More than engine none, in milliseconds of CPU. */
const WARM_BAR = 0.3;
const COLD_BAR = 2.5;
const ROUND_TRIPS_BAR = 1;

/** Keeps the last messages: what is measured is the host, not an engine. */
class LastMessages extends ContextEngine {
  override readonly name = 'last-messages';
  override compress(messages: Message[]): Message[] {
    return [{ role: 'user', content: 'Earlier messages were left out.' }, ...messages.slice(-41)];
  }
}

/** What driving an engine costs a request of 100 kB whose count is cached, beside engine none. In this process. */
export async function engineFigures(): Promise<string[]> {
  const none = await figures('none');
  const engine = await figures('last-messages');
  const warm = held(engine.warmMs - none.warmMs, WARM_BAR, 'ms of CPU');
  const cold = held(engine.coldMs - none.coldMs, COLD_BAR, 'ms of CPU');
  const trips = held(engine.coldTrips, ROUND_TRIPS_BAR, 'round trips to the store');
  return [
    `An engine costs a request of 100 kB ${warm} more than none where this process has seen the one before it.`,
    `The first request after a restart of a conversation that has a checkpoint costs ${cold} more, ${trips}.`,
  ];
}

async function figures(engine: string) {
  const store = await countedStore();
  const before = await assembled(engine, store);
  // Each conversation's first request makes its checkpoint; those that are measured stand on it.
  const warm = (round: number, i: number) => body(`warm ${round}`, MESSAGES + 2 * i);
  const warmMs = await measured((bytes) => send(bytes, before), warm);
  const cold = (round: number, i: number) => body(`cold ${round} ${i}`, MESSAGES);
  for (let round = 0; round < ROUNDS + WARM_UP_ROUNDS; round += 1) {
    for (let i = 0; i <= REQUESTS; i += 1) await send(cold(round, i), before);
  }
  await before.close();
  const restarted = await assembled(engine, store);
  // Whether a tenant has checkpoints is asked once.
  await send(body('warm 0', MESSAGES), restarted);
  store.trips = 0;
  const coldMs = await measured((bytes) => send(bytes, restarted), cold);
  const requests = (ROUNDS + WARM_UP_ROUNDS) * (REQUESTS + 1);
  const coldTrips = store.trips / requests;
  await restarted.close();
  await store.end();
  return { warmMs, coldMs, coldTrips };
}

async function send(bytes: Buffer, parts: Awaited<ReturnType<typeof assembled>>): Promise<void> {
  const call = { signal: new AbortController().signal, credential: 'Bearer bench', tenant: 'bench' };
  await prepareExchange(bytes, { endpoint: ENDPOINTS[0] as Endpoint, call }, parts);
}

/** A store that outlives the proxy, and counts what requests ask of it. What is written behind them is none of it. */
async function countedStore() {
  const real = await openConversationStore({ folder: ':memory:' });
  const counted = { trips: 0, store: real, end: () => real.close() };
  counted.store = new Proxy(real, {
    get(target, name) {
      if (name === 'close') return async () => undefined;
      const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        if (name !== 'commit') counted.trips += 1;
        return method.apply(target, args);
      };
    },
  });
  return counted;
}

/** CPU milliseconds of one request, the median of rounds when warm; the first of each round is not counted. */
async function measured(
  send: (bytes: Buffer) => Promise<unknown>,
  bodyOf: (round: number, i: number) => Buffer,
): Promise<number> {
  const costs: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    const bodies = Array.from({ length: REQUESTS + 1 }, (_, i) => bodyOf(round, i));
    await send(bodies[0] as Buffer);
    const before = process.cpuUsage();
    for (const bytes of bodies.slice(1)) await send(bytes);
    const { user, system } = process.cpuUsage(before);
    if (round >= WARM_UP_ROUNDS) costs.push((user + system) / 1000 / REQUESTS);
  }
  return costs.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
}

function assembled(engine: string, { store }: { readonly store: ConversationStore }) {
  const loaded = loadSettings({
    flags: {
      upstream: 'http://127.0.0.1:9',
      engine,
      data: ':memory:',
      'min-output-tokens': '1024',
      config: 'bench.yaml',
    },
    env: {},
    readFile: () => 'compression:\n  prepare: 0\n',
    cwd: process.cwd(),
  });
  if (!loaded.ok) throw new Error('the settings of the bench are refused');
  const prototype = new LastMessages();
  return assemble({
    settings: loaded.settings,
    backend: () => BACKEND,
    engine:
      engine === 'none'
        ? { kind: 'none', warnings: [] }
        : {
            kind: 'engine',
            name: engine,
            origin: 'the bench',
            prototype,
            create: async (_context: EngineContext) => new LastMessages(),
            warnings: [],
          },
    log: createLog('silent'),
    store,
    drivesEngine: true,
  });
}

/** Counts at once: four bytes for a token. */
const BACKEND: Backend = {
  source: 'bench',
  describe: async () => CONTEXT_LENGTH,
  count: async ({ bytes }) => ({ tokens: Math.ceil(bytes.length / 4), contextLength: CONTEXT_LENGTH }),
  clearCache() {},
};

function body(opening: string, messages: number): Buffer {
  const list: Message[] = [{ role: 'system', content: 'You are measured.' }];
  for (let i = 0; i < messages; i += 1) {
    const role = i % 2 === 0 ? 'user' : 'assistant';
    list.push({ role, content: `${i === 0 ? opening : i} ${'lorem ipsum '.repeat(MESSAGE_BYTES / 12)}` });
  }
  return Buffer.from(JSON.stringify({ model: 'm', max_tokens: 512, messages: list }));
}
