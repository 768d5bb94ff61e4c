import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Call, ClientGone } from './call.js';
import { Instance } from './instance.js';
import { resolveOptions, type SimulatorOptions } from './options.js';
import { internalServerError, methodNotAllowed, Refusal, unauthorized } from './refusal.js';
import { RequestLog } from './request-log.js';
import { findRoute, isGuarded } from './routes.js';

export interface Simulator {
  /** `http://HOST:PORT`. */
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
  const server = createServer((request, response) => {
    void serve(request, response, instance, log);
  });
  server.keepAliveTimeout = 5_000;
  await listen(server, resolved.port, resolved.host);
  const { port } = server.address() as AddressInfo;
  const host = resolved.host.includes(':') ? `[${resolved.host}]` : resolved.host;
  return { url: `http://${host}:${port}`, port, close: () => close(server) };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  instance: Instance,
  log: RequestLog,
): Promise<void> {
  const body = await readBody(request).catch(() => undefined);
  if (body === undefined) return;
  const call = new Call(request, response, body);
  try {
    if (call.path === '/__sim/requests') return answerLog(call, log);
    log.add(request.method ?? '', request.url ?? '', request.rawHeaders, body);
    const { apiKey, vllm } = instance.options;
    if (isGuarded(call.path, request.method, vllm) && !isAuthorized(call, apiKey)) throw unauthorized();
    await findRoute(request.method ?? '', call.path, vllm)(call, instance);
  } catch (error) {
    answerError(call, error);
  }
}

function answerLog(call: Call, log: RequestLog): void {
  const { method } = call.request;
  if (method !== 'GET' && method !== 'DELETE') throw methodNotAllowed(['GET', 'DELETE']);
  if (method === 'DELETE') log.clear();
  call.json(log.list());
}

function answerError(call: Call, error: unknown): void {
  if (error instanceof ClientGone) return;
  if (call.started) {
    call.cut();
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
