import type { Log } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import type { RelayEnd } from '../stream/relay.js';
import type { UpstreamProber } from '../upstream/prober.js';

export interface ObserveParts {
  readonly metrics: Metrics;
  readonly prober: UpstreamProber;
  readonly log: Log;
}

/**
 * Counts who ended an exchange early, tells the prober of an upstream that is away, and writes the one log line.
 * @param fields counts, codes and names of ours.
 */
export function observeEnd(
  fields: Readonly<Record<string, string | number | undefined>>,
  end: Exclude<RelayEnd, { outcome: 'held' }>,
  startedAt: number,
  { metrics, prober, log }: ObserveParts,
): void {
  if (end.outcome === 'client_abort') metrics.aborts.inc({ side: 'client' });
  if (end.outcome === 'upstream_error') {
    metrics.aborts.inc({ side: 'upstream' });
    if (end.error.code === 'upstream_unreachable') prober.noteUnreachable();
  }
  log.info(
    {
      ...fields,
      status: end.status,
      outcome: end.outcome,
      cause: end.outcome === 'upstream_error' ? end.error.causeCode : undefined,
      ms: Math.round(performance.now() - startedAt),
    },
    'exchange',
  );
}
