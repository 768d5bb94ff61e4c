import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Action, Reason } from '../budget/reason.js';
import { planHeaders } from '../exchange/plan.js';
import type { RunParts } from '../exchange/run.js';
import type { Answer } from '../stream/answer.js';
import { type RelayEnd, relay } from '../stream/relay.js';
import { upstreamRequestHeaders } from '../upstream/headers.js';
import type { Access } from './access.js';
import { collectBody, discardRest, hasBody, streamBody } from './collect-body.js';
import { observePass } from './observe-pass.js';

export interface PassThroughParts extends RunParts {
  readonly access: Access;
}

/** Why a request to an intercepted endpoint passes without being read. */
export interface PassReason {
  readonly endpoint: string;
  readonly action: Extract<Action, 'unchanged' | 'bypassed'>;
  readonly reason: Extract<Reason, 'bypass' | 'encoded_body' | 'body_too_large'>;
}

/** A body of at most this length is read before it is forwarded, so that it can be sent once more. */
const REPLAYABLE_BYTES = 262_144;

/**
 * Forwards a request as it is: method, path, query, body and end-to-end fields. Never rejects.
 * @param rest where a part of the body was read already: all of it as a stream.
 */
export async function passThrough(
  request: IncomingMessage,
  target: string,
  answer: Answer,
  parts: PassThroughParts,
  why?: PassReason,
  rest?: Readable,
): Promise<void> {
  const startedAt = performance.now();
  try {
    const body = rest ?? (await sendableBody(request));
    const end = await forward(request, target, body, answer, parts, why);
    observePass({ request, route: why?.endpoint ?? 'pass', ...why, startedAt }, end, parts);
    discardRest(request);
  } catch (error) {
    parts.warnings.failOpen('internal_error', error);
    answer.abandon();
  }
}

async function forward(
  request: IncomingMessage,
  target: string,
  body: Buffer | Readable | null | undefined,
  answer: Answer,
  parts: PassThroughParts,
  why: PassReason | undefined,
): Promise<RelayEnd> {
  if (body === undefined) return { outcome: 'client_abort', status: 0 };
  const length = request.headers['content-length'];
  const headers = upstreamRequestHeaders(request.rawHeaders, {
    host: parts.forwarder.host,
    authorization: parts.access.upstreamAuthorization,
    contentLength: body === null || length === undefined ? undefined : Number(length),
  });
  const plan = why === undefined ? undefined : { ...why, source: 'none', facts: {} };
  return relay(parts.forwarder, { method: request.method ?? 'GET', path: target, headers, body }, answer, {
    ownHeaders: plan === undefined ? undefined : () => planHeaders(plan),
  });
}

/** `undefined` where the client went before its body was whole. */
async function sendableBody(request: IncomingMessage): Promise<Buffer | Readable | null | undefined> {
  if (!hasBody(request)) return null;
  const length = request.headers['content-length'];
  if (length === undefined || Number(length) > REPLAYABLE_BYTES) return streamBody(request);
  const body = await collectBody(request, REPLAYABLE_BYTES);
  if (body.kind === 'aborted') return undefined;
  return body.kind === 'whole' ? body.bytes : body.stream;
}
