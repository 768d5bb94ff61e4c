import { get } from 'node:http';
import { held } from './bar.js';
import type { LoadJob, LoadResult } from './load.js';
import { CLAMPING, startProxy, startUpstream } from './peers.js';
import type { Measured } from './process.js';

type Drive = (job: LoadJob) => Promise<LoadResult>;

/** Resident memory, at rest and with 64 streams, in MB. */
const MEMORY_BARS = {
  none: { idle: 100, streaming: 160 },
  compressor: { idle: 125, streaming: undefined },
} as const;
const READING_MS = 3000;
const COUNTS = 400;
const MEMORY_ROUNDS = 3;
/** A stream of 200 chunks takes 4 s. */
const MID_STREAM_MS = 3000;
const STREAMS: Omit<LoadJob, 'url'> = {
  path: '/v1/chat/completions?stream',
  requests: 64,
  concurrency: 64,
  bodyBytes: 1000,
  fresh: 'nothing',
  stream: true,
};

/** Figures of the proxy alone, as lines of text. */
export async function singleFigures(proxy: Measured, drive: Drive): Promise<string[]> {
  const growth = await slowReaderGrowth(proxy);
  const long = await longCountCost(drive);
  const memory = await memoryFigures(drive);
  return [
    ...memory,
    `A 50 MB answer that its client does not read: RSS grows by ${growth.toFixed(1)} MiB in ${READING_MS / 1000} s.`,
    `A count whose answer lists 100,000 token ids costs ${long.toFixed(2)} ms of CPU more than one that lists three.`,
  ];
}

/** Processes of their own: a row's RSS holds what the rows before it left behind. */
async function memoryFigures(drive: Drive): Promise<string[]> {
  const upstream = await startUpstream();
  const lines: string[] = [];
  for (const [engine, args] of [
    ['none', CLAMPING],
    ['compressor', ['--engine', 'compressor', '--data', ':memory:']],
  ] as const) {
    const idle: number[] = [];
    const streaming: number[] = [];
    for (let round = 0; round < MEMORY_ROUNDS; round += 1) {
      const proxy = await startProxy(upstream.url, args);
      await (await fetch(`${proxy.url}/v1/models`)).arrayBuffer();
      await new Promise((done) => setTimeout(done, 1000));
      idle.push(proxy.rssMiB());
      const streams = drive({ ...STREAMS, url: proxy.url });
      await new Promise((done) => setTimeout(done, MID_STREAM_MS));
      streaming.push(proxy.rssMiB());
      await streams;
      await proxy.stop();
    }
    const bars = MEMORY_BARS[engine];
    const rest = memory(median(idle), bars.idle);
    lines.push(
      `Engine ${engine}: RSS ${rest} idle, ${memory(median(streaming), bars.streaming)} with 64 streams.`,
    );
  }
  await upstream.stop();
  return lines;
}

function memory(mib: number, bar: number | undefined): string {
  const mb = mib * 1.048576;
  return bar === undefined ? `${mb.toFixed(0)} MB` : held(mb, bar, 'MB', 0);
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** How much the proxy grows, in MiB, while the client of a large answer has stopped reading. */
function slowReaderGrowth(proxy: Measured): Promise<number> {
  return new Promise((resolve, reject) => {
    const before = proxy.rssMiB();
    const request = get(`${proxy.url}/large`, (response) => {
      response.once('data', () => response.pause());
      setTimeout(() => {
        resolve(proxy.rssMiB() - before);
        request.destroy();
      }, READING_MS);
    });
    request.on('error', reject);
  });
}

/** CPU milliseconds that the length of the tokenizer's answer costs. */
async function longCountCost(drive: Drive): Promise<number> {
  const costs: number[] = [];
  for (const long of ['0', '1']) {
    const upstream = await startUpstream({ LONG_COUNT: long });
    const proxy = await startProxy(upstream.url, CLAMPING);
    const job: LoadJob = {
      url: proxy.url,
      path: '/v1/chat/completions',
      requests: COUNTS,
      concurrency: 4,
      bodyBytes: 1000,
      fresh: 'last',
      stream: false,
    };
    await drive(job);
    const before = proxy.cpuMs();
    await drive(job);
    costs.push((proxy.cpuMs() - before) / COUNTS);
    await proxy.stop();
    await upstream.stop();
  }
  return (costs[1] ?? Number.NaN) - (costs[0] ?? Number.NaN);
}
