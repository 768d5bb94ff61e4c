import { join } from 'node:path';
import type { Backend } from '../src/backends/contract.js';
import type { Message } from '../src/conversation/message.js';
import type { EngineContext } from '../src/engines/contract.js';
import type { Endpoint } from '../src/exchange/endpoint.js';

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

/** Of 100 kB, about 25,000 tokens, a conversation is over its window. */
const CONTEXT_LENGTH = 30_000;
const MESSAGE_BYTES = 720;
const MESSAGES = 139;
const ROUNDS = 25;
/** Until the code is compiled for what it is given. */
const WARM_UP_ROUNDS = 15;
const REQUESTS = 20;

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
  const warm = (engine.warmMs - none.warmMs).toFixed(2);
  const cold = (engine.coldMs - none.coldMs).toFixed(2);
  return [
    `An engine costs a request of 100 kB ${warm} ms of CPU more than none where this process has seen the one before it.`,
    `The first request of a conversation costs ${cold} ms more, with one round trip to the store.`,
  ];
}

async function figures(engine: string) {
  const parts = await assembled(engine);
  const send = async (bytes: Buffer) => {
    const call = { signal: new AbortController().signal, credential: 'Bearer bench', tenant: 'bench' };
    return await prepareExchange(bytes, { endpoint: ENDPOINTS[0] as Endpoint, call }, parts);
  };
  // Each conversation's first request makes its checkpoint; those that are measured stand on it.
  const warmMs = await measured(send, (round, i) => body(`warm ${round}`, MESSAGES + 2 * i));
  const coldMs = await measured(send, (round, i) => body(`cold ${round} ${i}`, MESSAGES));
  await parts.close();
  return { warmMs, coldMs };
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

function assembled(engine: string) {
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
    drivesEngine: true,
  });
}

const COLD = Buffer.from('"cold ');

/** Counts at once: four bytes for a token, and little where a conversation is not to be compressed. */
const BACKEND: Backend = {
  source: 'bench',
  describe: async () => CONTEXT_LENGTH,
  count: async ({ bytes }) => ({
    tokens: bytes.includes(COLD) ? 1000 : Math.ceil(bytes.length / 4),
    contextLength: CONTEXT_LENGTH,
  }),
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
