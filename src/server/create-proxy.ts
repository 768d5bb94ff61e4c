import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import httpProxy from '@fastify/http-proxy';
import Fastify, { type FastifyInstance } from 'fastify';
import { errorShapeAt } from '../exchange/endpoint.js';
import { Answer } from '../stream/answer.js';
import { LONGEST_HEAD_BYTES } from '../upstream/agent.js';
import { type AssembleOptions, assemble, type Parts } from './assemble.js';
import { ClientErrors } from './client-error.js';
import { createFront, createUpgradeFront, requestPathOf } from './front.js';
import { registerOwnEndpoints } from './own-endpoints.js';
import { passThrough } from './pass-through.js';

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
export async function createProxy(options: AssembleOptions): Promise<RunningProxy> {
  const parts = await assemble({ ...options, drivesEngine: true });
  const { server: address } = parts.settings;
  const { app, server } = createApp(parts);
  try {
    await app.listen({ host: address.host, port: address.port });
  } catch (error) {
    await parts.close();
    throw error;
  }
  void parts.prober.start();
  let draining: Promise<void> | undefined;
  const end = async (seconds: number) => {
    await parts.drain.finish(server, seconds);
    // Exchanges that were cut hear first that their clients are gone.
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([app.close(), parts.close()]);
  };
  return {
    url: `http://${urlHost(address.host)}:${(server.address() as AddressInfo).port}`,
    close: () => end(0),
    drain: () => {
      draining ??= end(address.drainSeconds);
      return draining;
    },
  };
}

/** No route has a schema: given any compilers, Fastify does not load its own, which take 3 MB. */
const noCompiler = () => () => {
  throw new Error('no route has a schema');
};
const WITHOUT_SCHEMAS = { buildValidator: noCompiler, buildSerializer: noCompiler };

function createApp(parts: Parts): { app: FastifyInstance; server: Server } {
  // Longer than any client's pool keeps an idle connection, and no limit on how long an upload takes.
  const server = createServer({
    keepAliveTimeout: 75_000,
    requestTimeout: 0,
    requireHostHeader: false,
    maxHeaderSize: LONGEST_HEAD_BYTES,
  });
  const clientErrors = new ClientErrors();
  const app = Fastify({
    serverFactory: (route) => {
      const front = createFront(parts, route);
      server.on('request', front);
      // Node answers 417 to an expectation it does not know; that is for the upstream to judge.
      server.on('checkExpectation', front);
      server.on('upgrade', createUpgradeFront(server, parts));
      server.on('request', (request, response) => clientErrors.watch(request.socket, response));
      return server;
    },
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: WITHOUT_SCHEMAS },
    clientErrorHandler: (error, socket) => clientErrors.answer(error, socket),
    forceCloseConnections: true,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  registerOwnEndpoints(app, parts);
  app.register(httpProxy, {
    upstream: parts.settings.upstream.url,
    proxyPayloads: false,
    handler: async (request, reply) => {
      reply.hijack();
      const { pathname, target } = requestPathOf(request.raw);
      await passThrough(request.raw, target, new Answer(reply.raw, errorShapeAt(pathname)), parts);
    },
  });
  return { app, server };
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
