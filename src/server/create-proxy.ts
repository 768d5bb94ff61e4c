import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import httpProxy from '@fastify/http-proxy';
import Fastify, { type FastifyInstance } from 'fastify';
import type { BackendFactory } from '../backends/contract.js';
import type { Settings } from '../config/settings.js';
import { createNoneEngine } from '../engines/none/none.js';
import { ENDPOINTS, type Endpoint } from '../exchange/endpoint.js';
import { createLog, type Log } from '../observe/log.js';
import { createMetrics } from '../observe/metrics.js';
import { Warnings } from '../observe/warnings.js';
import { Answer } from '../stream/answer.js';
import { createUpstreamAgent } from '../upstream/agent.js';
import { Forwarder } from '../upstream/forwarder.js';
import { ModelRegistry } from '../upstream/model-registry.js';
import { UpstreamProber } from '../upstream/prober.js';
import { Access } from './access.js';
import { Drain } from './drain.js';
import { createFront, createUpgradeFront, requestPathOf } from './front.js';
import { serveIntercepted } from './intercepted.js';
import { registerOwnEndpoints } from './own-endpoints.js';
import { passThrough } from './pass-through.js';

export interface ProxyOptions {
  readonly settings: Settings;
  /** Builds the configured backend; only this one is constructed. */
  readonly backend: BackendFactory;
  /** Default: on standard error at the configured level. */
  readonly log?: Log | undefined;
}

/** A proxy that is listening. */
export interface RunningProxy {
  /** For example `http://127.0.0.1:8787`. */
  readonly url: string;
  /** Ends at once: streams in flight are cut. */
  close(): Promise<void>;
  /** Not ready from now on; streams in flight finish, at most `drainSeconds`; then as `close`. */
  drain(): Promise<void>;
}

/**
 * Starts a proxy.
 * @throws BackendSettingsError for settings that the backend refuses; the error of `listen` where the address is taken.
 */
export async function createProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { settings } = options;
  const parts = await assemble(options);
  const { app, server } = createApp(parts, settings);
  await app.listen({ host: settings.server.host, port: settings.server.port });
  const { port } = server.address() as AddressInfo;
  void parts.prober.start();
  let ending: Promise<void> | undefined;
  const end = async (drainSeconds: number) => {
    await parts.drain.finish(server, drainSeconds);
    parts.prober.stop();
    parts.metrics.close();
    await Promise.all([app.close(), parts.forwarder.close(), parts.backend.close?.()]);
  };
  return {
    url: `http://${urlHost(settings.server.host)}:${port}`,
    close: () => {
      ending = end(0);
      return ending;
    },
    drain: () => {
      ending ??= end(settings.server.drainSeconds);
      return ending;
    },
  };
}

type Parts = Awaited<ReturnType<typeof assemble>>;

async function assemble(options: ProxyOptions) {
  const { settings } = options;
  const log = options.log ?? createLog(settings.server.logLevel);
  const metrics = createMetrics();
  const warnings = new Warnings(log);
  const { upstream, tokenizer } = settings;
  const backend = await options.backend({
    options: settings.backends.get(tokenizer.backend),
    upstream: upstream.url,
    tokenizer: { ...tokenizer, urlByModel: tokenizerUrls(settings) },
    tls: { ca: upstream.ca, insecure: upstream.insecure },
    connectTimeoutSeconds: upstream.connectTimeoutSeconds,
    observer: metrics.backend,
  });
  const models = new ModelRegistry(settings);
  const prober = new UpstreamProber({
    backend,
    credential: upstream.apiKey === undefined ? undefined : `Bearer ${upstream.apiKey}`,
    log,
    onModels: (listed) => models.list(listed),
  });
  return {
    settings,
    log,
    metrics,
    warnings,
    backend,
    models,
    prober,
    engine: createNoneEngine(settings.budget.compressionWindowTokens),
    forwarder: new Forwarder(createUpstreamAgent(upstream), upstream.url),
    access: new Access(settings),
    drain: new Drain((inFlight) => metrics.inFlight.set(inFlight)),
  };
}

function tokenizerUrls(settings: Settings): ReadonlyMap<string, string> {
  const urls = new Map<string, string>();
  for (const [id, { tokenizerUrl }] of settings.models)
    if (tokenizerUrl !== undefined) urls.set(id, tokenizerUrl);
  return urls;
}

function createApp(parts: Parts, settings: Settings): { app: FastifyInstance; server: Server } {
  const server = createServer();
  const app = Fastify({
    serverFactory: (route) => {
      server.on('request', createFront(parts, route));
      server.on('checkExpectation', createFront(parts, route));
      server.on('upgrade', createUpgradeFront(parts));
      return server;
    },
    exposeHeadRoutes: false,
    forceCloseConnections: true,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  registerOwnEndpoints(app, parts);
  for (const endpoint of ENDPOINTS) registerEndpoint(app, endpoint, parts, settings);
  app.register(httpProxy, {
    upstream: settings.upstream.url,
    proxyPayloads: false,
    handler: async (request, reply) => {
      reply.hijack();
      await passThrough(request.raw, requestPathOf(request.raw).target, new Answer(reply.raw), parts);
    },
  });
  return { app, server };
}

function registerEndpoint(app: FastifyInstance, endpoint: Endpoint, parts: Parts, settings: Settings): void {
  app.post(endpoint.path, async (request, reply) => {
    reply.hijack();
    const { target } = requestPathOf(request.raw);
    await serveIntercepted(
      request.raw,
      target,
      endpoint,
      new Answer(reply.raw),
      parts,
      settings.server.bodyLimit,
    );
  });
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
