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

/** What driving the `compressor` costs over HTTP, beside engine none in the same run. The store's thread counts. */
export async function engineOverHttp(drive: Drive, rounds: number): Promise<string> {
  const upstream = await startUpstream();
  const proxies = new Map<string, Measured>();
  for (const [engine, args] of ENGINES) proxies.set(engine, await startProxy(upstream.url, args));
  const costs = new Map<string, number[]>();
  for (let round = -1; round < rounds; round += 1) {
    for (const [engine, proxy] of proxies) {
      const cost = await costOf(proxy, drive);
      if (round >= 0) costs.set(engine, [...(costs.get(engine) ?? []), cost]);
    }
  }
  for (const proxy of proxies.values()) await proxy.stop();
  await upstream.stop();
  const [none, compressor] = ENGINES.map(([engine]) => median(costs.get(engine) ?? []));
  const ratio = (compressor ?? Number.NaN) / (none ?? Number.NaN);
  const isMissed = !(ratio <= BAR);
  return `Over HTTP, 100 kB with a cached count: none ${none?.toFixed(3)} ms, compressor ${compressor?.toFixed(3)} ms of CPU: ratio ${ratio.toFixed(2)}${isMissed ? ' MISSED' : ''}, bar ${BAR}.`;
}

async function costOf(proxy: Measured, drive: Drive): Promise<number> {
  const before = proxy.cpuMs();
  const { failures } = await drive({
    url: proxy.url,
    path: '/v1/chat/completions',
    requests: REQUESTS,
    concurrency: CONCURRENCY,
    bodyBytes: 100_000,
    fresh: 'nothing',
    stream: false,
  });
  if (failures > 0) throw new Error(`${failures} of ${REQUESTS} requests failed`);
  return (proxy.cpuMs() - before) / REQUESTS;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
