import { openSync, readSync } from 'node:fs';
import { createHistogram, performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Milliseconds between two looks; what comes on top is delay. */
const EVERY = 2;

/** What the probe answers when its process is told `report`, in milliseconds. */
export interface LoopReport {
  /** Delay as others feel it. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Of it, what a busy machine did not add: without the time in which the main thread was ready and had no CPU. */
  readonly ownP99: number;
  readonly ownMax: number;
  /** That time, as a part of all. */
  readonly waitedShare: number;
  readonly rssMiB: number;
}

/** Loaded by `node --import` before the proxy: measures its event loop, and reports and starts anew when asked. */
if (isMainThread && process.send !== undefined) {
  const felt = createHistogram();
  const own = createHistogram();
  const waitedByThread = threadWaits();
  let wall = performance.now();
  let waited = waitedByThread();
  let begun = { wall, waited };
  const look = (): void => {
    const now = performance.now();
    const waitedSoFar = waitedByThread();
    const delay = now - wall - EVERY;
    felt.record(micros(delay));
    own.record(micros(delay - (waitedSoFar - waited)));
    wall = now;
    waited = waitedSoFar;
  };
  setInterval(look, EVERY).unref();
  process.on('message', () => {
    const report: LoopReport = {
      p50: felt.percentile(50) / 1_000,
      p99: felt.percentile(99) / 1_000,
      max: felt.max / 1_000,
      ownP99: own.percentile(99) / 1_000,
      ownMax: own.max / 1_000,
      waitedShare: (waited - begun.waited) / (wall - begun.wall),
      rssMiB: process.memoryUsage().rss / 2 ** 20,
    };
    process.send?.(report);
    felt.reset();
    own.reset();
    begun = { wall, waited };
  });
  process.channel?.unref();
}

/** Milliseconds in which the main thread was ready and waited for a CPU: schedstat of proc(5); none where it is not there. */
function threadWaits(): () => number {
  const bytes = Buffer.alloc(64);
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    return () => {
      const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, 64, 0));
      return Number(text.split(' ')[1]) / 1e6;
    };
  } catch {
    return () => 0;
  }
}

/** A histogram takes whole numbers from one. */
function micros(milliseconds: number): number {
  return Math.max(1, Math.round(milliseconds * 1_000));
}
