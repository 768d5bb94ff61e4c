import { held } from './bar.js';
import type { LoadJob, LoadResult } from './load.js';
import { CLAMPING, startProxy, startUpstream } from './peers.js';
import type { Measured } from './process.js';

type Drive = (job: LoadJob) => Promise<LoadResult>;

/** CPU of a request of 100 kB whose count is cached, at most, to that of engine `none`. */
const BAR = 1.2;
const REQUESTS = 1000;
const CONCURRENCY = 4;
const ENGINES = [
  ['none', CLAMPING],
  ['compressor', ['--engine', 'compressor', '--data', ':memory:']],
] as const;
/** 100 kB are 25,000 tokens: over the window of 0.75, and with an answer of 4096 below the context length. */
const UPSTREAM = { CONTEXT_LENGTH: '30000', TOKEN_BYTES: '4' };
const CONVERSATION: Omit<LoadJob, 'url' | 'requests'> = {
  path: '/v1/chat/completions',
  concurrency: CONCURRENCY,
  bodyBytes: 100_000,
  fresh: 'nothing',
  stream: false,
};

/**
 * What driving the `compressor` costs over HTTP, beside engine none on the same requests in the same run. The first one
 * of a round is compressed; those that are measured stand on its checkpoint. The store's thread counts.
 */
export async function engineOverHttp(drive: Drive, rounds: number): Promise<string> {
  const upstream = await startUpstream(UPSTREAM);
  const proxies = new Map<string, Measured>();
  for (const [engine, args] of ENGINES) proxies.set(engine, await startProxy(upstream.url, args));
  const costs = new Map<string, number[]>();
  for (let round = -1; round < rounds; round += 1) {
    for (const [engine, proxy] of proxies) {
      const cost = await costOf(proxy, drive);
      if (round >= 0) costs.set(engine, [...(costs.get(engine) ?? []), cost]);
    }
  }
  await checkCompressed(proxies.get('compressor'), (rounds + 1) * REQUESTS);
  for (const proxy of proxies.values()) await proxy.stop();
  await upstream.stop();
  const [none, compressor] = ENGINES.map(([engine]) => median(costs.get(engine) ?? []));
  const ratio = held((compressor ?? Number.NaN) / (none ?? Number.NaN), BAR, 'as much');
  return `Over HTTP, a compressed conversation of 100 kB with a cached count: none ${none?.toFixed(3)} ms of CPU, compressor ${compressor?.toFixed(3)} ms, ${ratio}.`;
}

async function costOf(proxy: Measured, drive: Drive): Promise<number> {
  await driven({ ...CONVERSATION, url: proxy.url, requests: CONCURRENCY }, drive);
  const before = proxy.cpuMs();
  await driven({ ...CONVERSATION, url: proxy.url, requests: REQUESTS }, drive);
  return (proxy.cpuMs() - before) / REQUESTS;
}

async function driven(job: LoadJob, drive: Drive): Promise<void> {
  const { failures } = await drive(job);
  if (failures > 0) throw new Error(`${failures} of ${job.requests} requests failed`);
}

/** Else what was measured is a proxy that has nothing to remember. */
async function checkCompressed(proxy: Measured | undefined, requests: number): Promise<void> {
  const metrics = await (await fetch(`${proxy?.url}/incontext/metrics`)).text();
  const count = (name: string) =>
    Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')[1],
    );
  const passes = count('incontext_compressions_total{result="compressed"}');
  if (passes !== 1) throw new Error(`the conversation was to be compressed once, not ${passes} times`);
  const reused = count('incontext_decisions_total{action="compressed",reason="checkpoint_reused"}');
  if (!(reused >= requests)) throw new Error(`${reused} of ${requests} requests stood on the checkpoint`);
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
