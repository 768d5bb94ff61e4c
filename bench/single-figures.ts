import { get } from 'node:http';
import type { LoadJob, LoadResult } from './load.js';
import { PROXY, startUpstream } from './peers.js';
import type { Measured } from './process.js';

type Drive = (job: LoadJob) => Promise<LoadResult>;

const READING_MS = 3000;
const COUNTS = 400;

/** Figures of the proxy alone, as lines of text. */
export async function singleFigures(proxy: Measured, drive: Drive): Promise<string[]> {
  const growth = await slowReaderGrowth(proxy);
  const long = await longCountCost(drive);
  return [
    `A 50 MB answer that its client does not read: RSS grows by ${growth.toFixed(1)} MiB in ${READING_MS / 1000} s.`,
    `A count whose answer lists 100,000 token ids costs ${long.toFixed(2)} ms of CPU more than one that lists three.`,
  ];
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
    const proxy = await PROXY.start(upstream.url);
    if (proxy === undefined) throw new Error('the proxy does not start');
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
