import type { IncomingMessage } from 'node:http';
import type { Action, Reason } from '../budget/reason.js';
import type { RunParts } from '../exchange/run.js';
import type { RelayEnd } from '../stream/relay.js';

/** What passed without being read. */
export interface Passed {
  readonly request: IncomingMessage;
  /** The endpoint's name; `pass` and `upgrade` for what is not intercepted. */
  readonly route: string;
  readonly action?: Action | undefined;
  readonly reason?: Reason | undefined;
  readonly startedAt: number;
}

/** One log line, and the metrics, of a request that passed without being read. */
export function observePass(passed: Passed, end: RelayEnd, { metrics, prober, log }: RunParts): void {
  if (end.outcome === 'held') return;
  const { request, route, action, reason, startedAt } = passed;
  if (action !== undefined && reason !== undefined) metrics.decided(action, reason);
  if (end.outcome === 'client_abort') metrics.aborts.inc({ side: 'client' });
  if (end.outcome === 'upstream_error') {
    metrics.aborts.inc({ side: 'upstream' });
    if (end.error.code === 'upstream_unreachable') prober.noteUnreachable();
  }
  log.info(
    {
      route,
      method: request.method,
      action,
      reason,
      status: end.status,
      outcome: end.outcome,
      cause: end.outcome === 'upstream_error' ? end.error.causeCode : undefined,
      ms: Math.round(performance.now() - startedAt),
    },
    'exchange',
  );
}
