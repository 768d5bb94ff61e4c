import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Settings } from '../config/settings.js';
import type { Endpoint } from '../exchange/endpoint.js';
import { runExchange } from '../exchange/run.js';
import type { Answer } from '../stream/answer.js';
import { ClientCall } from './client-call.js';
import { collectBody } from './collect-body.js';
import { conversationIdOf } from './conversation-id.js';
import { observePass } from './observe-pass.js';
import { type PassReason, type PassThroughParts, passThrough } from './pass-through.js';

export interface InterceptedParts extends PassThroughParts {
  readonly settings: Settings;
  /** Absent where no conversation is kept. */
  readonly tenantOf?: ((request: IncomingMessage) => string) | undefined;
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
  const unread = whyUnread(headers);
  if (unread !== undefined) {
    return passThrough(request, target, answer, parts, { endpoint: endpoint.name, ...unread });
  }
  const startedAt = performance.now();
  const call = new ClientCall(
    answer,
    parts.access.credentialOf(request),
    apiKeyOf(headers),
    parts.tenantOf?.(request),
    conversationIdOf(headers, parts.settings.sessions.conversationId),
    endpoint.path,
  );
  const body = await collectBody(request, parts.settings.server.bodyLimit);
  if (body.kind === 'aborted') {
    const end = { outcome: 'client_abort', status: 0 } as const;
    return observePass({ request, route: endpoint.name, startedAt }, end, parts);
  }
  if (body.kind === 'over') {
    const why = { endpoint: endpoint.name, action: 'unchanged', reason: 'body_too_large' } as const;
    return passThrough(request, target, answer, parts, why, body.stream);
  }
  await runExchange(
    {
      endpoint,
      method: request.method ?? 'POST',
      path: target,
      rawHeaders: request.rawHeaders,
      body: body.bytes,
      authorization: parts.access.upstreamAuthorization,
      call,
      clampOnly: headers['x-incontext-engine'] === 'none',
    },
    answer,
    parts,
  );
}

/** Why a request passes before its body is looked at; `undefined`: it is read. */
export function whyUnread(headers: IncomingHttpHeaders): Omit<PassReason, 'endpoint'> | undefined {
  if (headers['x-incontext-bypass'] === '1') return { action: 'bypassed', reason: 'bypass' };
  if (isEncoded(headers['content-encoding'])) return { action: 'unchanged', reason: 'encoded_body' };
  return undefined;
}

/** As it goes upstream. */
function apiKeyOf({ 'x-api-key': key }: IncomingHttpHeaders): string | undefined {
  return Array.isArray(key) ? key.join(', ') : key;
}

function isEncoded(encoding: string | undefined): boolean {
  return encoding !== undefined && encoding.trim() !== '' && encoding.trim().toLowerCase() !== 'identity';
}
