import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { BackendObserver, CountFailure } from '../backends/contract.js';
import type { Action, Reason } from '../budget/reason.js';

const TOKEN_BUCKETS = [16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];
/** Around 0: at most 0 and more than -1 is a count that was right. */
const DRIFT_BUCKETS = [-1024, -256, -64, -16, -4, -1, 0, 4, 16, 64, 256, 1024];
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The Prometheus metrics of one proxy. No label value ever comes from a request. */
export type Metrics = ReturnType<typeof createMetrics>;

/** @returns all metrics, in a registry of their own. */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const decisions = new Counter({
    name: 'incontext_decisions_total',
    help: 'Generation requests by what was done with them and why.',
    labelNames: ['action', 'reason'] as const,
    registers,
  });
  const promptTokens = new Histogram({
    name: 'incontext_prompt_tokens',
    help: 'Prompt tokens as the client sent them and as they went upstream.',
    labelNames: ['stage'] as const,
    buckets: TOKEN_BUCKETS,
    registers,
  });
  const capTokens = new Histogram({
    name: 'incontext_cap_tokens',
    help: 'Output caps as the client asked for them and as they went upstream.',
    labelNames: ['stage'] as const,
    buckets: TOKEN_BUCKETS,
    registers,
  });
  const overhead = new Histogram({
    name: 'incontext_overhead_seconds',
    help: 'Time between a whole request and its dispatch upstream, counting included.',
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const inFlight = new Gauge({
    name: 'incontext_in_flight',
    help: 'Requests and upgraded connections being served.',
    registers,
  });
  const aborts = new Counter({
    name: 'incontext_aborts_total',
    help: 'Exchanges that one side ended early.',
    labelNames: ['side'] as const,
    registers,
  });
  const degradedModels = new Gauge({
    name: 'incontext_degraded_models',
    help: 'Models whose window leaves no room for the reserve; their requests pass unchanged.',
    registers,
  });
  const compressions = new Counter({
    name: 'incontext_compressions_total',
    help: 'Compression passes by how they ended.',
    labelNames: ['result'] as const,
    registers,
  });
  const summaryCalls = new Counter({
    name: 'incontext_summary_calls_total',
    help: "Requests of the context engine's own by how they ended.",
    labelNames: ['result'] as const,
    registers,
  });
  const countDrift = new Histogram({
    name: 'incontext_count_drift_tokens',
    help: "The upstream's own prompt tokens less the exact count, before any correction. Above 0: counted too few.",
    buckets: DRIFT_BUCKETS,
    registers,
  });
  const tokenizerFailures = new Counter({
    name: 'incontext_tokenizer_failures_total',
    help: 'Exact counts that failed.',
    labelNames: ['reason'] as const,
    registers,
  });
  const eventLoop = eventLoopDelay(registers);
  return {
    registry,
    promptTokens,
    capTokens,
    overhead,
    inFlight,
    aborts,
    degradedModels,
    countDrift,
    backend: backendObserver(registers),
    decided: (action: Action, reason: Reason) => decisions.inc({ action, reason }),
    compressed: (result: string) => compressions.inc({ result }),
    summaryCalled: (result: string) => summaryCalls.inc({ result }),
    countFailed: (reason: CountFailure) => tokenizerFailures.inc({ reason }),
    close: () => eventLoop.disable(),
  };
}

function backendObserver(registers: Registry[]): Required<BackendObserver> {
  const seconds = new Histogram({
    name: 'incontext_tokenizer_seconds',
    help: 'Time of one call to the tokenizer.',
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const cache = new Counter({
    name: 'incontext_tokenizer_cache_total',
    help: 'Counts answered from the cache, by the tokenizer, or by a call that was already under way.',
    labelNames: ['result'] as const,
    registers,
  });
  return {
    onCall: (value) => seconds.observe(value),
    onCache: (result) => cache.inc({ result }),
  };
}

function eventLoopDelay(registers: Registry[]) {
  const interval = 0.02;
  // What it measures is the time between two of its ticks, the interval itself included.
  const delay = monitorEventLoopDelay({ resolution: interval * 1000 });
  delay.enable();
  new Gauge({
    name: 'incontext_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape.',
    labelNames: ['quantile'] as const,
    registers,
    collect() {
      for (const quantile of [50, 90, 99]) {
        this.set(
          { quantile: String(quantile / 100) },
          Math.max(0, delay.percentile(quantile) / 1e9 - interval),
        );
      }
      delay.reset();
    },
  });
  return delay;
}
