import type { Log } from '../observe/log.js';
import type { Metrics } from '../observe/metrics.js';
import type { RelayEnd } from '../stream/relay.js';
import type { UpstreamProber } from '../upstream/prober.js';

export interface ObserveParts {
  readonly metrics: Metrics;
  readonly prober: UpstreamProber;
  readonly log: Log;
}

/** What the log line says of an exchange before its end: counts, codes and names of ours. */
export interface ExchangeFields {
  readonly route: string;
  readonly method?: string | undefined;
  readonly action?: string | undefined;
  readonly reason?: string | undefined;
  readonly source?: string | undefined;
  readonly model?: string | undefined;
  readonly prompt_tokens?: number | undefined;
  readonly window?: number | undefined;
  readonly max_tokens?: number | undefined;
}

/** Counts who ended an exchange early, tells the prober of an upstream that is away, and writes the one log line. */
export function observeEnd(
  fields: ExchangeFields,
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
    // Field by field: spreading costs more than all the rest of the line.
    {
      route: fields.route,
      method: fields.method,
      action: fields.action,
      reason: fields.reason,
      source: fields.source,
      model: fields.model,
      prompt_tokens: fields.prompt_tokens,
      window: fields.window,
      max_tokens: fields.max_tokens,
      status: end.status,
      outcome: end.outcome,
      cause: end.outcome === 'upstream_error' ? end.error.causeCode : undefined,
      ms: Math.round(performance.now() - startedAt),
    },
    'exchange',
  );
}
