import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Call, ClientGone } from './call.js';
import { Instance } from './instance.js';
import { resolveOptions, type SimulatorOptions } from './options.js';
import { internalServerError, methodNotAllowed, Refusal, unauthorized } from './refusal.js';
import { RequestLog } from './request-log.js';
import { findRoute, isGuarded } from './routes.js';

export interface Simulator {
  /** `http://HOST:PORT`, with `https:` under TLS. */
  readonly url: string;
  readonly port: number;
  /** Breaks open connections. */
  close(): Promise<void>;
}

/**
 * Starts a stand-in for vLLM.
 * @throws MissingPackageError without the optional packages; the listen error when the port is taken
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const resolved = resolveOptions(options);
  const instance = await Instance.create(resolved);
  const log = new RequestLog();
  const { tls } = resolved;
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    void serve(request, response, instance, log);
  };
  const server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest);
  server.keepAliveTimeout = 5_000;
  await listen(server, resolved.port, resolved.host);
  const { port } = server.address() as AddressInfo;
  const host = resolved.host.includes(':') ? `[${resolved.host}]` : resolved.host;
  const scheme = tls === undefined ? 'http' : 'https';
  return { url: `${scheme}://${host}:${port}`, port, close: () => close(server) };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  instance: Instance,
  log: RequestLog,
): Promise<void> {
  const start = performance.now();
  const body = await readBody(request).catch(() => undefined);
  if (body === undefined) return;
  const call = new Call(request, response, body);
  try {
    if (call.path === '/__sim/requests') return answerLog(call, instance, log);
    const ended = log.add(request.method ?? '', request.url ?? '', request.rawHeaders, body);
    response.once('close', () =>
      ended(response.writableFinished ? 'complete' : 'aborted', Math.round(performance.now() - start)),
    );
    if (call.isOnSpentConnection) return await call.cut();
    const { apiKey, vllm } = instance.options;
    if (isGuarded(call.path, request.method, vllm) && !isAuthorized(call, apiKey)) throw unauthorized();
    await findRoute(request.method ?? '', call.path, vllm)(call, instance);
  } catch (error) {
    await answerError(call, error);
  }
}

function answerLog(call: Call, instance: Instance, log: RequestLog): void {
  const { method } = call.request;
  if (method !== 'GET' && method !== 'DELETE') throw methodNotAllowed(['GET', 'DELETE']);
  if (method === 'DELETE') {
    log.clear();
    instance.attempts.forget();
  }
  call.json(log.list());
}

async function answerError(call: Call, error: unknown): Promise<void> {
  if (error instanceof ClientGone) return;
  if (call.started) {
    await call.cut().catch(() => {});
    return;
  }
  const refusal = error instanceof Refusal ? error : internalServerError();
  if (refusal !== error) console.error(error);
  call.respond(refusal.status, refusal.body, refusal.contentType, refusal.headers);
}

function isAuthorized(call: Call, key: string | undefined): boolean {
  if (key === undefined) return true;
  const [scheme, token] = (call.header('authorization') ?? '').split(' ');
  return scheme?.toLowerCase() === 'bearer' && token === key;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
