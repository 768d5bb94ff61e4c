import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** One request as the stub saw it. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** Resolves with the milliseconds at which the connection was closed before an answer was complete. */
  readonly cut: Promise<number>;
}

export type StubRoute = (request: Received, response: ServerResponse) => unknown;

export interface StubOptions {
  /** W of the single card `m`, in tokens. */
  readonly window?: number;
  /** Cards of `/v1/models` in place of the single one. */
  readonly models?: readonly { readonly id: string; readonly max_model_len?: number }[];
  /** What `/tokenize` counts. */
  readonly count?: number | ((body: Record<string, unknown>) => number);
  /** Answers by `METHOD /path`, in place of the stub's own. */
  readonly routes?: Record<string, StubRoute>;
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly port?: number;
}

/** The server "U" of the bug cases: strict like vLLM, and it remembers what it saw. */
export interface UpstreamStub {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** What arrived at that path. */
  at(path: string): Received[];
  /** The only request at that path. */
  only(path: string): Received;
  /** Changes the options from the next request on. */
  set(options: Partial<StubOptions>): void;
  readonly server: Server;
  close(): Promise<void>;
}

export const CHAT = '/v1/chat/completions';

export async function startStub(initial: StubOptions = {}): Promise<UpstreamStub> {
  let options = initial;
  const received: Received[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const cut = new Promise<number>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve(performance.now());
      });
    });
    const body = await readBody(request);
    if (body === undefined) return;
    const entry: Received = {
      method: request.method ?? '',
      url: request.url ?? '',
      rawHeaders: request.rawHeaders,
      headers: request.headers,
      body,
      cut,
    };
    const path = entry.url.split('?')[0] ?? '';
    const route = options.routes?.[`${entry.method} ${path}`] ?? options.routes?.['*'];
    if (isQuestion(path, body) && (route === undefined || path === '/tokenize')) return told(path, response);
    received.push(entry);
    await (route ?? own(path))(entry, response);
  };
  const own = (path: string): StubRoute => {
    if (path === '/v1/models') return (_request, response) => json(response, 200, modelList(options));
    if (path === '/tokenize') return (request, response) => tokenize(request, response, options);
    if (path === CHAT) return (request, response) => chat(request, response, options);
    return (_request, response) => json(response, 404, { detail: 'Not Found' });
  };
  const server = options.tls === undefined ? createServer(handle) : createTlsServer(options.tls, handle);
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(initial.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stub: UpstreamStub = {
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    received,
    at: (path) => received.filter((one) => one.url.split('?')[0] === path),
    only(path) {
      const all = stub.at(path);
      if (all.length !== 1) throw new Error(`${all.length} requests at ${path}`);
      return all[0] as Received;
    },
    set(more) {
      options = { ...options, ...more };
    },
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return stub;
}

/** What the proxy wants to know of the server itself: answered as vLLM 0.32 does, and none of what was received. */
function isQuestion(path: string, body: Buffer): boolean {
  return QUESTIONS.has(path) || (path === '/tokenize' && body.includes('"prompt":"<|channel|>"'));
}

const QUESTIONS = new Set(['/version', '/v1/chat/completions/render', '/v1/messages/count_tokens']);

function told(path: string, response: ServerResponse): void {
  if (path === '/version') json(response, 200, { version: '0.32.0' });
  else if (path === '/tokenize') json(response, 200, { count: 5, max_model_len: 4096, tokens: [1] });
  else json(response, 404, { detail: 'Not Found' });
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** Writes an event stream of these data lines, then `[DONE]`. */
export function sse(response: ServerResponse, events: readonly unknown[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  for (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`);
  response.end('data: [DONE]\n\n');
}

export function windowOf(options: StubOptions, model?: unknown): number {
  const cards = options.models;
  if (cards === undefined) return options.window ?? 4096;
  return (cards.find((card) => card.id === model) ?? cards[0])?.max_model_len ?? 4096;
}

function modelList(options: StubOptions): unknown {
  const cards = options.models ?? [{ id: 'm', max_model_len: options.window ?? 4096 }];
  return { object: 'list', data: cards.map((card) => ({ object: 'model', ...card })) };
}

function countOf(options: StubOptions, body: Record<string, unknown>): number {
  const count = options.count ?? 10;
  return typeof count === 'function' ? count(body) : count;
}

function tokenize(request: Received, response: ServerResponse, options: StubOptions): void {
  const body = JSON.parse(request.body.toString()) as Record<string, unknown>;
  const count = countOf(options, body);
  json(response, 200, { count, max_model_len: windowOf(options, body.model), tokens: [1], token_strs: null });
}

function chat(request: Received, response: ServerResponse, options: StubOptions): unknown {
  let body: Record<string, unknown>;
  try {
    body = Object(JSON.parse(request.body.toString().replace(/^\uFEFF/, ''))) as Record<string, unknown>;
  } catch {
    return refuse(response, 'There was an error parsing the body');
  }
  const window = windowOf(options, body.model);
  const prompt = countOf(options, body);
  const cap = (body.max_completion_tokens ?? body.max_tokens ?? window - prompt) as number;
  if (typeof cap !== 'number' || cap < 1)
    return refuse(response, `max_tokens must be at least 1, got ${cap}.`);
  if (prompt + cap > window) {
    return refuse(
      response,
      `This model's maximum context length is ${window} tokens. However, you requested ${cap} output tokens ` +
        `and your prompt contains ${prompt} input tokens, for a total of ${prompt + cap} tokens.`,
    );
  }
  const usage = { prompt_tokens: prompt, completion_tokens: 2, total_tokens: prompt + 2 };
  if (body.stream === true) {
    return sse(response, [
      { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'an' } }] },
      { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'swer' } }] },
      { id: 'c', object: 'chat.completion.chunk', choices: [], usage },
    ]);
  }
  return json(response, 200, {
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'answer' }, finish_reason: 'stop' }],
    usage,
  });
}

function refuse(response: ServerResponse, message: string): void {
  json(response, 400, { error: { message, type: 'BadRequestError', param: null, code: 400 } });
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}
