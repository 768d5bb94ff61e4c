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
  /** Of it, what the main thread worked itself: without the time in which a busy machine let it wait. */
  readonly workP99: number;
  readonly workMax: number;
  readonly rssMiB: number;
}

/** Loaded by `node --import` before the proxy: measures its event loop, and reports and starts anew when asked. */
if (isMainThread && process.send !== undefined) {
  const felt = createHistogram();
  const worked = createHistogram();
  let wall = performance.now();
  const cpuOfThread = threadCpu();
  let cpu = cpuOfThread();
  const look = (): void => {
    const now = performance.now();
    const used = cpuOfThread();
    const delay = now - wall - EVERY;
    felt.record(micros(delay));
    worked.record(micros(Math.min(delay, used - cpu)));
    wall = now;
    cpu = used;
  };
  setInterval(look, EVERY).unref();
  process.on('message', () => {
    const report: LoopReport = {
      p50: felt.percentile(50) / 1_000,
      p99: felt.percentile(99) / 1_000,
      max: felt.max / 1_000,
      workP99: worked.percentile(99) / 1_000,
      workMax: worked.max / 1_000,
      rssMiB: process.memoryUsage().rss / 2 ** 20,
    };
    process.send?.(report);
    felt.reset();
    worked.reset();
  });
  process.channel?.unref();
}

/** CPU milliseconds of the main thread: schedstat of proc(5), which counts by ticks of at most 4 ms; else of the process. */
function threadCpu(): () => number {
  const bytes = Buffer.alloc(64);
  try {
    const file = openSync('/proc/thread-self/schedstat', 'r');
    return () => Number.parseInt(bytes.toString('latin1', 0, readSync(file, bytes, 0, 64, 0)), 10) / 1e6;
  } catch {
    return () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    };
  }
}

/** A histogram takes whole numbers from one. */
function micros(milliseconds: number): number {
  return Math.max(1, Math.round(milliseconds * 1_000));
}
