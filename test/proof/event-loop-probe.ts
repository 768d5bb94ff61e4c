import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Milliseconds between two looks; what comes on top is delay. */
const RESOLUTION = 2;

/** What the probe answers when its process is told `report`. */
export interface LoopReport {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly rssMiB: number;
}

/** Loaded by `node --import` before the proxy: measures its event loop, and reports and starts anew when asked. */
if (isMainThread && process.send !== undefined) {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION });
  histogram.enable();
  process.on('message', () => {
    const ms = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION);
    const report: LoopReport = {
      p50: ms(histogram.percentile(50)),
      p99: ms(histogram.percentile(99)),
      max: ms(histogram.max),
      rssMiB: process.memoryUsage().rss / 2 ** 20,
    };
    process.send?.(report);
    histogram.reset();
  });
  process.channel?.unref();
}
