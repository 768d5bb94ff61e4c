import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach } from 'vitest';

export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Resolves when the request's socket is closed. */
  readonly closed: Promise<void>;
}

export type Answer = (response: ServerResponse, arrived: Arrived, index: number) => void;

export interface Stub {
  readonly url: string;
  readonly arrived: readonly Arrived[];
  /** Resolves once `count` requests are there. */
  arrivals(count: number): Promise<void>;
  answer: Answer;
  close(): Promise<void>;
}

const open = new Set<Stub>();
afterEach(async () => {
  await Promise.all([...open].map((stub) => stub.close()));
});

/**
 * A real server on a free port; it is closed after the test. It says that it is this version of vLLM, and that 0.32
 * counts images as the model gets them, neither of which is among what arrived; `null`: that is for the test to answer.
 */
export async function listen(answer: Answer, version: string | null = '0.32.0'): Promise<Stub> {
  const arrived: Arrived[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer(async (request, response) => {
    const one = await read(request);
    if (one.path === '/version' && version !== null) return json(response, { version });
    const tokens = version === EXPANDS ? imageSample(one.body) : undefined;
    if (tokens !== undefined) return counted(response, tokens);
    arrived.push(one);
    for (const { count, resolve } of waiting) if (arrived.length >= count) resolve();
    stub.answer(response, one, arrived.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stub: Stub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    answer,
    arrivals: (count) =>
      new Promise((resolve) => {
        if (arrived.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    close: () =>
      new Promise((resolve) => {
        open.delete(stub);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  open.add(stub);
  return stub;
}

const EXPANDS = '0.32.0';

/** What a server that counts images as the model gets them counts for the samples by which the backend finds that out. */
export function imageSample(body: string): number | undefined {
  if (!body.includes('"text":"hello"},{')) return undefined;
  return body.includes('UgAAAOAAAADg') ? 74 : body.includes('UgAAACAAAAAg') ? 14 : undefined;
}

const closes = new WeakMap<Socket, Promise<void>>();

/** One listener for all requests of a kept-alive connection. */
function closeOf(socket: Socket): Promise<void> {
  const closed = closes.get(socket) ?? new Promise<void>((resolve) => socket.once('close', () => resolve()));
  closes.set(socket, closed);
  return closed;
}

async function read(request: IncomingMessage): Promise<Arrived> {
  const closed = closeOf(request.socket);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body: Buffer.concat(chunks).toString('utf8'),
    closed,
  };
}

export function json(response: ServerResponse, body: unknown, status = 200): void {
  raw(response, JSON.stringify(body), status);
}

export function raw(
  response: ServerResponse,
  body: string | Buffer,
  status = 200,
  type = 'application/json',
): void {
  response.writeHead(status, { 'content-type': type });
  response.end(body);
}

export function counted(response: ServerResponse, count: number, length = 65_536): void {
  json(response, { count, max_model_len: length, tokens: [1, 2, 3], token_strs: null });
}
