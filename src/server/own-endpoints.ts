import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BackendHealth } from '../backends/contract.js';
import type { Settings } from '../config/settings.js';
import type { Endpoint } from '../exchange/endpoint.js';
import { explanation, unchanged } from '../exchange/plan.js';
import { prepareExchange } from '../exchange/prepare.js';
import { ownError } from '../stream/own-error.js';
import { VERSION } from '../version.js';
import { collectBody } from './collect-body.js';
import { conversationMethods, registerConversationEndpoints } from './conversation-endpoints.js';
import type { Drain } from './drain.js';
import { explainedEndpoint } from './explained-endpoint.js';
import { requestPathOf } from './front.js';
import { whyUnread } from './intercepted.js';
import { modelStatuses } from './model-status.js';
import type { PassThroughParts } from './pass-through.js';

export interface OwnEndpointParts extends PassThroughParts {
  readonly settings: Settings;
  readonly drain: Drain;
}

/** Registers everything under `/incontext/`. */
export function registerOwnEndpoints(app: FastifyInstance, parts: OwnEndpointParts): void {
  const startedAt = Date.now();
  app.get('/incontext/live', WITH_HEAD, () => ({ status: 'live' }));
  app.get('/incontext/ready', WITH_HEAD, (_request, reply) => {
    const reason = notReady(parts);
    return reason === undefined ? { status: 'ready' } : reply.code(503).send({ status: 'not_ready', reason });
  });
  app.get('/incontext/status', WITH_HEAD, () => status(parts, startedAt));
  app.get('/incontext/metrics', WITH_HEAD, async (_request, reply) => {
    reply.type(parts.metrics.registry.contentType);
    parts.metrics.degradedModels.set(modelStatuses(parts).filter(({ degraded }) => degraded).length);
    return parts.metrics.registry.metrics();
  });
  app.post('/incontext/explain', (request, reply) => explain(request, reply, parts));
  registerConversationEndpoints(app, parts);
  app.all('/incontext/*', refuse);
  // Methods that the router does not know.
  app.setNotFoundHandler(refuse);
  app.setErrorHandler((error, _request, reply) => {
    parts.warnings.failOpen('internal_error', error);
    const { status, body } = ownError('internal_error');
    return reply.code(status).type('application/json').send(body);
  });
}

const WITH_HEAD = { exposeHeadRoute: true };

const ALLOWED = new Map<string, string>([
  ...['live', 'ready', 'status', 'metrics'].map((name) => [`/incontext/${name}`, 'GET, HEAD'] as const),
  ['/incontext/explain', 'POST'] as const,
]);

function refuse({ raw }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { pathname } = requestPathOf(raw);
  const allowed = ALLOWED.get(pathname) ?? conversationMethods(pathname);
  const error = ownError(allowed === undefined ? 'not_found' : 'method_not_allowed');
  if (allowed !== undefined) reply.header('allow', allowed);
  return reply.code(error.status).type('application/json').send(error.body);
}

function healthOf({ backend, warnings }: OwnEndpointParts): BackendHealth | undefined {
  try {
    return backend.health?.();
  } catch (error) {
    warnings.failOpen('backend_contract_failed', error);
    return undefined;
  }
}

function notReady({ drain, prober }: OwnEndpointParts): 'draining' | 'upstream_unreachable' | undefined {
  if (drain.draining) return 'draining';
  return prober.reachable ? undefined : 'upstream_unreachable';
}

function status(parts: OwnEndpointParts, startedAt: number) {
  const reason = notReady(parts);
  const health = healthOf(parts);
  return {
    version: VERSION,
    uptime_seconds: Math.floor((Date.now() - startedAt) / 1000),
    engine: parts.engine.name,
    backend: parts.settings.tokenizer.backend,
    ready: reason === undefined,
    reason: reason ?? null,
    in_flight: parts.drain.inFlight,
    models: modelStatuses(parts),
    tokenizer: {
      state: health?.state ?? 'unknown',
      calls: health?.calls ?? 0,
      failures: health?.failures ?? 0,
    },
  };
}

async function explain(request: FastifyRequest, reply: FastifyReply, parts: OwnEndpointParts) {
  const endpoint = endpointAsked(request, parts.settings.server.pathPrefix);
  if (endpoint === undefined) {
    const { status, body } = ownError('malformed_query');
    return reply.code(status).type('application/json').send(body);
  }
  if (endpoint === 'passes') return explanation(unchanged(Buffer.alloc(0), 'ignored'));
  const unread = whyUnread(request.headers);
  if (unread !== undefined) {
    return explanation({ ...unchanged(Buffer.alloc(0), unread.reason), action: unread.action });
  }
  const body = await collectBody(request.raw, parts.settings.server.bodyLimit);
  if (body.kind === 'aborted') return reply.hijack();
  if (body.kind === 'over') {
    body.stream.resume();
    return explanation(unchanged(Buffer.alloc(0), 'body_too_large'));
  }
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  const credential = parts.access.credentialOf(request.raw);
  const call = { signal: gone.signal, credential, path: endpoint.path };
  const clampOnly = request.headers['x-incontext-engine'] === 'none';
  return explanation(
    await prepareExchange(body.bytes, { endpoint, call, clampOnly, explainOnly: true }, parts),
  );
}

/** That of `?endpoint=PATH`, once and alone; `undefined` for any other query. */
function endpointAsked({ query }: FastifyRequest, prefix: string): Endpoint | 'passes' | undefined {
  const { endpoint, ...unknown } = query as Record<string, unknown>;
  if (Object.keys(unknown).length > 0) return undefined;
  if (endpoint !== undefined && typeof endpoint !== 'string') return undefined;
  const asked = explainedEndpoint(endpoint, prefix);
  return asked === 'no_path' ? undefined : asked;
}
