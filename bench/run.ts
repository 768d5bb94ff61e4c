import { fork } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { engineFigures } from './engine-figures.js';
import { engineOverHttp } from './engine-over-http.js';
import { litellm, portkey } from './gateways.js';
import type { LoadJob, LoadResult } from './load.js';
import { BARE, NGINX, type Peer, PROXY, startUpstream } from './peers.js';
import type { Measured } from './process.js';
import { singleFigures } from './single-figures.js';
import { type Figure, type Idle, printTable, type Row } from './table.js';

/** Peers side by side in one run. */

const USAGE = `Usage: npm run bench [-- FLAGS]

CPU, latency and memory of the proxy beside @fastify/http-proxy and, where installed, nginx, Portkey's gateway and
LiteLLM. See docs/performance.md.

  --rounds N    rounds of each row, of which the median counts (5)
  --peers PATH  folder where npm installed @portkey-ai/gateway, pip litellm (node_modules/ here, and the search path)
  --only TEXT   only the rows whose name holds TEXT
  --quick       fewer requests a round`;

const { quick: QUICK, rounds: ROUNDS, only: ONLY, peers: PEERS } = readArguments();
const SCALE = QUICK ? 0.3 : 1;
const CHUNKS_PER_STREAM = 201;
const CHAT = '/v1/chat/completions';
const OTHER = '/v1/other';

interface Workload {
  readonly name: string;
  readonly job: Omit<LoadJob, 'url'>;
  /** The peers that take part beside `direct` and the bare proxy. */
  readonly bar: number | undefined;
  readonly what: 'cpu' | 'chunk';
}

function work(
  name: string,
  bodyBytes: number,
  concurrency: number,
  requests: number,
  more: Partial<LoadJob>,
  bar?: number,
): Workload {
  const job: Workload['job'] = {
    path: CHAT,
    requests: Math.ceil(requests * SCALE),
    concurrency,
    bodyBytes,
    fresh: 'nothing',
    stream: false,
    ...more,
  };
  return { name, job, bar, what: 'cpu' };
}

const MB = 1_000_000;
const WORKLOADS: readonly Workload[] = [
  work('1 kB, c 1, cached count', 1000, 1, 3000, {}),
  work('1 kB, c 32, cached count', 1000, 32, 12_000, {}, 0.8),
  work('1 kB, c 32, fresh count', 1000, 32, 12_000, { fresh: 'last' }, 1),
  work('1 kB, c 32, passed through', 1000, 32, 12_000, { path: OTHER }, 1.1),
  work('100 kB, c 16, cached count', 100_000, 16, 4000, {}, 1),
  work('100 kB, c 16, fresh count', 100_000, 16, 4000, { fresh: 'last' }, 1),
  work('100 kB, c 16, fresh count, unknown head', 100_000, 16, 4000, { fresh: 'first' }),
  work('1 MB, c 8, cached count', MB, 8, 600, {}, 1.3),
  work('1 MB, c 8, fresh count', MB, 8, 600, { fresh: 'last' }, 1.3),
  work('1 MB, c 8, fresh count, unknown head', MB, 8, 600, { fresh: 'first' }),
  work('1 MB, c 8, passed through', MB, 8, 600, { path: OTHER }, 1.1),
  { ...work('64 streams of 200 chunks', 1000, 64, 64 / SCALE, { path: `${CHAT}?stream` }, 1), what: 'chunk' },
];

const chosen = WORKLOADS.filter(({ name }) => name.includes(ONLY));
if (chosen.length === 0) refuse(`no row's name holds "${ONLY}"`);

const load = fork(join(import.meta.dirname, 'load.ts'), { execArgv: process.execArgv });

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        rounds: { type: 'string', default: '5' },
        only: { type: 'string', default: '' },
        peers: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      process.exit(0);
    }
    const rounds = Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < 1) throw new TypeError('--rounds must be a positive integer');
    return { ...values, rounds };
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(fault: string): never {
  process.stderr.write(`${fault}\n\n${USAGE}\n`);
  process.exit(2);
}

function drive(job: LoadJob): Promise<LoadResult> {
  return new Promise((resolve) => {
    load.once('message', (result) => resolve(result as LoadResult));
    load.send(job);
  });
}

async function measure(
  { job, what }: Workload,
  target: Measured | undefined,
  url: string,
  { share = 1, headers }: Partial<Peer> = {},
): Promise<Figure> {
  const requests = what === 'chunk' ? job.requests : Math.ceil(job.requests * share);
  const before = target?.cpuMs() ?? 0;
  const result = await drive({ ...job, requests, url, headers: headers?.(upstream.url) ?? {} });
  const spent = (target?.cpuMs() ?? 0) - before;
  const units = what === 'chunk' ? requests * CHUNKS_PER_STREAM : requests;
  return {
    cpuMs: spent / units,
    p50Ms: result.p50Ms,
    failures: result.failures,
    rssMiB: target?.rssMiB() ?? 0,
  };
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

const upstream = await startUpstream();
const peers: { peer: Peer; running: Measured }[] = [];
const idle: Idle[] = [];
for (const peer of [BARE, PROXY, NGINX, portkey(PEERS), litellm(PEERS)]) {
  const running = await peer.start(upstream.url);
  if (running === undefined) {
    say(`${peer.name} is not installed: left out`);
    idle.push({ name: peer.name, figures: undefined });
    continue;
  }
  await fetch(`${running.url}/v1/models`);
  await new Promise((done) => setTimeout(done, 1000));
  idle.push({ name: peer.name, figures: { startMs: running.startMs, rssMiB: running.rssMiB() } });
  peers.push({ peer, running });
}

const rows: Row[] = [];
for (const workload of chosen) {
  const figures = new Map<string, Figure[]>();
  for (let round = -1; round < ROUNDS; round += 1) {
    say(`${workload.name}: ${round < 0 ? 'warm-up' : `round ${round + 1} of ${ROUNDS}`}`);
    const direct = await measure(workload, undefined, upstream.url);
    if (round >= 0) figures.set('direct', [...(figures.get('direct') ?? []), direct]);
    for (const { peer, running } of peers) {
      if (peer.takesPart?.(workload.job) === false) continue;
      const figure = await measure(workload, running, running.url, peer);
      if (round >= 0) figures.set(peer.name, [...(figures.get(peer.name) ?? []), figure]);
    }
  }
  rows.push({ name: workload.name, what: workload.what, bar: workload.bar, figures, idle });
}

const proxy = peers.find(({ peer }) => peer === PROXY)?.running;
say('figures of the proxy alone');
const alone =
  ONLY === '' && proxy !== undefined
    ? [
        ...(await singleFigures(proxy, drive)),
        ...(await engineFigures()),
        await engineOverHttp(drive, ROUNDS),
      ]
    : [];

printTable(rows, {
  alone,
  rounds: ROUNDS,
  machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node ${process.versions.node}`,
});
load.disconnect();
for (const { running } of peers) await running.stop();
await upstream.stop();
