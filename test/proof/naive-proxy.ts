import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ChatBody, RUN_HEADER } from './relay.js';
import { TokenMeter } from './tokens.js';

/** As large as `compressor` would let a prompt grow, and how far it is cut back then. */
const THRESHOLD = 0.75;
const LOW_WATER = 0.45;
const SUMMARY_TOKENS = 600;

type Messages = ChatBody['messages'];

interface Checkpoint {
  /** So many of the client's messages are in the summary. */
  covered: number;
  summary: string;
}

/**
 * The simplest thing that compresses: whole turns at the start are replaced by one summary. It shows what the measures
 * say of an engine that does no more, and serves one conversation.
 */
export async function startNaiveProxy(upstream: string, simulatorUrl: string, contextLength: number) {
  const naive = new Naive(upstream, new TokenMeter(simulatorUrl), contextLength);
  const server = createServer((request, response) => {
    naive.handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

class Naive {
  private readonly checkpoint: Checkpoint = { covered: 1, summary: '' };

  constructor(
    private readonly upstream: string,
    private readonly meter: TokenMeter,
    private readonly contextLength: number,
  ) {}

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as ChatBody;
    const messages = await this.fitted(body);
    const answer = await this.post({ ...body, messages }, String(request.headers[RUN_HEADER]));
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  }

  private async fitted(body: ChatBody): Promise<Messages> {
    const cap = body.max_tokens ?? 0;
    const limit = this.contextLength * THRESHOLD - cap;
    const view = this.view(body.messages);
    if ((await this.tokens(body, view)) <= limit) return view;
    const cut = await this.cut(body, (this.contextLength * THRESHOLD - cap) * LOW_WATER);
    const text = body.messages.slice(this.checkpoint.covered, cut).map((message) => JSON.stringify(message));
    this.checkpoint.summary = await this.summary([this.checkpoint.summary, ...text].join('\n'));
    this.checkpoint.covered = cut;
    return this.view(body.messages);
  }

  /** The first start of a turn from which on the rest is small enough, or the last one. */
  private async cut(body: ChatBody, target: number): Promise<number> {
    const starts = [...body.messages.keys()].filter(
      (at) => at > this.checkpoint.covered && body.messages[at]?.role === 'user',
    );
    for (const at of starts) {
      const rest = [...body.messages.slice(0, 1), ...body.messages.slice(at)];
      if ((await this.tokens(body, rest)) <= target) return at;
    }
    return starts.at(-1) ?? this.checkpoint.covered;
  }

  private view(messages: Messages): Messages {
    const { covered, summary } = this.checkpoint;
    if (summary === '') return messages;
    const handed = { role: 'user' as const, content: `[Summary of what came before]\n${summary}` };
    return [...messages.slice(0, 1), handed, ...messages.slice(covered)];
  }

  private async tokens(body: ChatBody, messages: Messages): Promise<number> {
    return (await this.meter.chat({ ...body, messages }))?.length ?? 0;
  }

  private async summary(text: string): Promise<string> {
    const content = `Summarise, and keep what is in the old summary:\n${text}`;
    const answer = await this.post({ messages: [{ role: 'user', content }], max_tokens: SUMMARY_TOKENS });
    const body = (await answer.json()) as { choices?: { message: { content: string } }[] };
    return body.choices?.[0]?.message.content ?? '';
  }

  private post(body: ChatBody, mark?: string): Promise<Response> {
    return fetch(`${this.upstream}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(mark === undefined ? {} : { [RUN_HEADER]: mark }) },
      body: JSON.stringify(body),
    });
  }
}
