import type { IncomingMessage } from 'node:http';
import type { Settings } from '../config/settings.js';
import type { Endpoint } from '../exchange/endpoint.js';
import { runExchange } from '../exchange/run.js';
import type { Answer } from '../stream/answer.js';
import { ClientGone } from './client-gone.js';
import { collectBody } from './collect-body.js';
import { observePass } from './observe-pass.js';
import { type PassThroughParts, passThrough } from './pass-through.js';

export interface InterceptedParts extends PassThroughParts {
  readonly settings: Settings;
}

/** Serves a request to an intercepted endpoint; never rejects. `target`: path and query upstream. */
export async function serveIntercepted(
  request: IncomingMessage,
  target: string,
  endpoint: Endpoint,
  answer: Answer,
  parts: InterceptedParts,
): Promise<void> {
  const { headers } = request;
  if (headers['x-incontext-bypass'] === '1') {
    return passThrough(request, target, answer, parts, {
      endpoint: endpoint.name,
      action: 'bypassed',
      reason: 'bypass',
    });
  }
  if (isEncoded(headers['content-encoding'])) {
    return passThrough(request, target, answer, parts, {
      endpoint: endpoint.name,
      action: 'unchanged',
      reason: 'encoded_body',
    });
  }
  const startedAt = performance.now();
  const gone = new ClientGone(answer);
  const body = await collectBody(request, parts.settings.server.bodyLimit);
  if (body.kind === 'aborted') {
    const end = { outcome: 'client_abort', status: 0 } as const;
    return observePass({ request, route: endpoint.name, startedAt }, end, parts);
  }
  if (body.kind === 'over') {
    const why = { endpoint: endpoint.name, action: 'unchanged', reason: 'body_too_large' } as const;
    return passThrough(request, target, answer, parts, why, body.stream);
  }
  const { access } = parts;
  await runExchange(
    {
      endpoint,
      method: request.method ?? 'POST',
      path: target,
      rawHeaders: request.rawHeaders,
      body: body.bytes,
      authorization: access.upstreamAuthorization,
      call: {
        get signal() {
          return gone.signal;
        },
        credential: access.credentialOf(request),
      },
      clampOnly: headers['x-incontext-engine'] === 'none',
    },
    answer,
    parts,
  );
}

/** True for a body in a content encoding, which is not read. */
export function isEncoded(encoding: string | undefined): boolean {
  return encoding !== undefined && encoding.trim() !== '' && encoding.trim().toLowerCase() !== 'identity';
}
