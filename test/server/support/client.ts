import { type Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';

export interface ClientAnswer {
  readonly status: number;
  readonly statusMessage: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface ClientCall {
  readonly method?: string;
  /** Goes on the wire as it stands. */
  readonly path: string;
  readonly headers?: Record<string, string | string[]> | readonly string[];
  readonly body?: string | Buffer | Readable;
  readonly agent?: Agent;
}

/** Sends a request whose target no URL parser touched. Its connection is not kept unless an agent is given. */
export function open(url: string, call: ClientCall): ClientRequest {
  const { hostname, port } = new URL(url);
  const request = httpRequest({
    host: hostname,
    port,
    method: call.method ?? 'GET',
    path: call.path,
    headers: (call.headers ?? {}) as Record<string, string | string[]>,
    agent: call.agent ?? false,
  });
  if (call.body === undefined || typeof call.body === 'string' || Buffer.isBuffer(call.body)) {
    request.end(call.body);
  } else {
    call.body.pipe(request);
  }
  return request;
}

/** Sends a request and reads its answer whole; rejects where the answer breaks off. */
export async function send(url: string, call: ClientCall): Promise<ClientAnswer> {
  const request = open(url, call);
  const response = await head(request);
  return { ...answerHead(response), body: await readAll(response) };
}

/** The head of the answer; rejects where the connection ends without one. */
export function head(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
}

export async function readAll(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function answerHead(response: IncomingMessage) {
  return {
    status: response.statusCode ?? 0,
    statusMessage: response.statusMessage ?? '',
    rawHeaders: response.rawHeaders,
    headers: response.headers,
  };
}

/** The `error` member of an answer of ours. */
export function errorOf(body: Buffer | string): Record<string, unknown> {
  return (JSON.parse(body.toString()) as { error: Record<string, unknown> }).error;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Polls until `check` holds; fails after `ms`. */
export async function until(check: () => boolean, ms = 5000): Promise<void> {
  const end = performance.now() + ms;
  while (!check()) {
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${check}`);
    await sleep(5);
  }
}

/** Resolves with `value()` once it has not changed for 300 ms. */
export async function settled(value: () => number): Promise<number> {
  let last = value();
  let since = performance.now();
  while (performance.now() - since < 300) {
    await sleep(10);
    if (value() === last) continue;
    last = value();
    since = performance.now();
  }
  return last;
}

/** A port on which nothing listens. */
export async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
