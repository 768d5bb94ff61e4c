import type { IncomingMessage } from 'node:http';
import type { Action, Reason } from '../budget/reason.js';
import { type ObserveParts, observeEnd } from '../exchange/observe-end.js';
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
export function observePass(passed: Passed, end: RelayEnd, parts: ObserveParts): void {
  if (end.outcome === 'held') return;
  const { request, route, action, reason, startedAt } = passed;
  if (action !== undefined && reason !== undefined) parts.metrics.decided(action, reason);
  const source = reason === undefined ? undefined : 'none';
  observeEnd({ route, method: request.method, action, reason, source }, end, startedAt, parts);
}
