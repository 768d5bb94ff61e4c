import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Action, Reason } from '../budget/reason.js';
import { planHeaders } from '../exchange/plan.js';
import type { RunParts } from '../exchange/run.js';
import type { Answer } from '../stream/answer.js';
import { type RelayEnd, relay } from '../stream/relay.js';
import { upstreamRequestHeaders } from '../upstream/headers.js';
import type { Access } from './access.js';
import { hasBody } from './collect-body.js';

export interface PassThroughParts extends RunParts {
  readonly access: Access;
}

/** Why a request to an intercepted endpoint passes without being read. */
export interface PassReason {
  readonly endpoint: string;
  readonly action: Extract<Action, 'unchanged' | 'bypassed'>;
  readonly reason: Extract<Reason, 'bypass' | 'encoded_body' | 'body_too_large'>;
}

/**
 * Forwards a request as it is: method, path, query, body and end-to-end fields.
 * @param body what was read of it already; by default the request's own stream.
 */
export async function passThrough(
  request: IncomingMessage,
  target: string,
  answer: Answer,
  parts: PassThroughParts,
  why?: PassReason,
  body: Readable | null = hasBody(request) ? request : null,
): Promise<void> {
  const startedAt = performance.now();
  const length = request.headers['content-length'];
  const headers = upstreamRequestHeaders(request.rawHeaders, {
    host: parts.forwarder.host,
    authorization: parts.access.upstreamAuthorization,
    contentLength: body === null || length === undefined ? undefined : Number(length),
  });
  const plan = why === undefined ? undefined : { ...why, source: 'none', facts: {} };
  const upstreamRequest = { method: request.method ?? 'GET', path: target, headers, body };
  const end = await relay(parts.forwarder, upstreamRequest, answer, {
    ownHeaders: plan === undefined ? undefined : () => planHeaders(plan),
  });
  observe(request, end, startedAt, parts, why);
}

function observe(
  request: IncomingMessage,
  end: RelayEnd,
  startedAt: number,
  parts: PassThroughParts,
  why: PassReason | undefined,
): void {
  if (end.outcome === 'held') return;
  const { metrics, prober, log } = parts;
  if (why !== undefined) metrics.decided(why.action, why.reason);
  if (end.outcome === 'client_abort') metrics.aborts.inc({ side: 'client' });
  if (end.outcome === 'upstream_error') {
    metrics.aborts.inc({ side: 'upstream' });
    if (end.error.code === 'upstream_unreachable') prober.noteUnreachable();
  }
  log.info(
    {
      route: why?.endpoint ?? 'pass',
      method: request.method,
      action: why?.action,
      reason: why?.reason,
      status: end.status,
      outcome: end.outcome,
      cause: end.outcome === 'upstream_error' ? end.error.causeCode : undefined,
      ms: Math.round(performance.now() - startedAt),
    },
    'exchange',
  );
}
