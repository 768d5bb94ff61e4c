import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WireAssistant, WireMessage } from './recording.js';
import { writeAnswer } from './relay-answer.js';
import type { Summariser } from './summariser.js';
import type { TokenMeter } from './tokens.js';

/** A client's request carries `RUN/STEP` here; an engine's own has no such header. */
export const RUN_HEADER = 'x-proof-run';
const CHAT = '/v1/chat/completions';

/** A chat request as it came upstream. */
export interface ChatBody {
  readonly messages: readonly (WireMessage | { readonly role: 'system'; readonly content: string })[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly [member: string]: unknown;
}

export interface Reply {
  readonly message: WireAssistant;
  /** Of an answer to a question: whether what it asks for was in view. */
  readonly right?: boolean;
}

/** One generation request that reached the upstream. */
export interface Upstreamed {
  /** Who asks: a client's run, or the engine itself. */
  readonly run: string | undefined;
  /** Of a client's request: the place of the awaited message in its recording. */
  readonly step: number;
  readonly body: Buffer;
  readonly request: ChatBody;
  promptIds: readonly number[];
  cap: number | undefined;
  status: number;
  completionTokens: number;
  reply: Reply | undefined;
}

export interface RelayOptions {
  readonly simulatorUrl: string;
  readonly meter: TokenMeter;
  readonly answer: (asked: Upstreamed) => Reply;
  readonly summarise: Summariser;
  /** Milliseconds that each of an engine's own requests takes. */
  readonly summaryDelayMs?: number;
  /** Who asks where no header tells; default: the engine. */
  readonly runOf?: (request: ChatBody) => string | undefined;
  readonly onRequest?: (seen: Upstreamed) => void;
}

export interface Relay {
  readonly url: string;
  /** In the order of their arrival. */
  readonly seen: Upstreamed[];
  close(): Promise<void>;
}

/**
 * Stands between proxy and simulator. The simulator judges every generation request, byte for byte as it came, and
 * answers everything else; only what the model says is written here.
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const seen: Upstreamed[] = [];
  const server = createServer((request, response) => {
    handle(request, response, options, seen).catch((error: unknown) => {
      console.error('relay:', error);
      response.destroy();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  options: RelayOptions,
  seen: Upstreamed[],
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  const judged = await ask(request, body, options.simulatorUrl);
  if (request.url !== CHAT || request.method !== 'POST') return pass(judged, response);
  const entry = entryOf(request, body, options);
  seen.push(entry);
  entry.status = judged.status;
  entry.promptIds = (await options.meter.chat(entry.request)) ?? [];
  if (judged.ok) await answer(entry, response, options);
  else await pass(judged, response);
  options.onRequest?.(entry);
}

function entryOf(request: IncomingMessage, body: Buffer, { runOf }: RelayOptions): Upstreamed {
  const header = request.headers[RUN_HEADER];
  const asked = JSON.parse(body.toString('utf8')) as ChatBody;
  const [run, step] = typeof header === 'string' ? header.split('/') : [runOf?.(asked)];
  return {
    run,
    step: Number(step ?? -1),
    body,
    request: asked,
    promptIds: [],
    cap: asked.max_completion_tokens ?? asked.max_tokens,
    status: 0,
    completionTokens: 0,
    reply: undefined,
  };
}

/** The simulator's answer to the same bytes. */
function ask(request: IncomingMessage, body: Buffer, simulatorUrl: string): Promise<Response> {
  const { authorization, 'content-type': type } = request.headers;
  return fetch(`${simulatorUrl}${request.url ?? '/'}`, {
    method: request.method ?? 'GET',
    headers: {
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...(body.length === 0 ? {} : { body }),
  });
}

async function pass(answer: Response, response: ServerResponse): Promise<void> {
  const type = answer.headers.get('content-type');
  const body = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, type === null ? {} : { 'content-type': type }).end(body);
}

async function answer(entry: Upstreamed, response: ServerResponse, options: RelayOptions): Promise<void> {
  const cap = entry.cap ?? Number.POSITIVE_INFINITY;
  const { message, finish } = await said(entry, options, cap);
  entry.completionTokens = Math.min(cap, 1 + (await options.meter.text(written(message))));
  writeAnswer(
    response,
    { message, finish, promptTokens: entry.promptIds.length, completionTokens: entry.completionTokens },
    {
      wanted: entry.request.stream === true,
      withUsage: entry.request.stream_options?.include_usage === true,
    },
  );
}

async function said(
  entry: Upstreamed,
  options: RelayOptions,
  cap: number,
): Promise<{ message: WireAssistant; finish: 'stop' | 'length' | 'tool_calls' }> {
  if (entry.run === undefined) {
    await new Promise((resolve) => setTimeout(resolve, options.summaryDelayMs ?? 0));
    const prompt = entry.request.messages.map(({ content }) => String(content)).join('\n');
    const { text, finish } = await options.summarise(prompt, cap);
    return { message: { role: 'assistant', content: text }, finish };
  }
  entry.reply = options.answer(entry);
  const { message } = entry.reply;
  return { message, finish: message.tool_calls === undefined ? 'stop' : 'tool_calls' };
}

/** A message as the model writes it. */
function written({ content, tool_calls: calls = [] }: WireAssistant): string {
  const tools = calls.map(
    ({ function: { name, arguments: input } }) =>
      `<tool_call>\n{"name": "${name}", "arguments": ${input}}\n</tool_call>`,
  );
  return [...(content === null ? [] : [content]), ...tools].join('\n');
}
