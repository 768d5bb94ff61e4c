import { APIError, OpenAI } from 'openai';
import type { Recording, WireAssistant, WireCall, WireMessage } from './recording.js';
import { RUN_HEADER } from './relay.js';

type Chunk = OpenAI.ChatCompletionChunk;
type Delta = OpenAI.ChatCompletionChunk.Choice.Delta;

/** What the client got for one request. */
export interface Outcome {
  readonly step: number;
  /** `undefined`: the connection failed. */
  readonly status: number | undefined;
  readonly action: string;
  readonly reason: string;
  readonly message: WireAssistant | undefined;
}

export interface Player {
  readonly proxyUrl: string;
  readonly recording: Recording;
  readonly run: string;
  readonly apiKey?: string;
  readonly maxTokens: number;
  /** The first place in the recording that is played; all before is sent along as if it had happened elsewhere. */
  readonly from?: number;
  /** Before each message of the recording, with its place. */
  readonly before?: (at: number) => Promise<void> | void;
}

/**
 * A client with a history of its own, which it sends as a whole each time. What the recording says of the assistant is
 * what it awaits, what it got is what it keeps; every other request is a stream.
 */
export async function play(player: Player): Promise<Outcome[]> {
  const { recording, from = 0 } = player;
  const client = clientOf(player.proxyUrl, player.apiKey);
  const history: WireMessage[] = recording.messages.slice(0, from);
  const outcomes: Outcome[] = [];
  for (const [at, message] of recording.messages.entries()) {
    if (at < from) continue;
    await player.before?.(at);
    if (message.role !== 'assistant') {
      history.push(message);
      continue;
    }
    const outcome = await ask(client, player, history, at, outcomes.length % 2 === 1);
    outcomes.push(outcome);
    history.push(outcome.message ?? message);
  }
  return outcomes;
}

export function clientOf(proxyUrl: string, apiKey = 'proof'): OpenAI {
  return new OpenAI({ baseURL: `${proxyUrl}/v1`, apiKey, maxRetries: 0, logLevel: 'off', timeout: 120_000 });
}

async function ask(
  client: OpenAI,
  { recording, run, maxTokens }: Player,
  history: readonly WireMessage[],
  step: number,
  stream: boolean,
): Promise<Outcome> {
  const body = {
    model: 'simulated',
    messages: [{ role: 'system' as const, content: recording.system }, ...history],
    ...(recording.tools.length === 0 ? {} : { tools: [...recording.tools] }),
    max_tokens: maxTokens,
  };
  try {
    const { message, headers } = await complete(client, body, `${run}/${step}`, stream);
    return { step, status: 200, ...told(headers), message };
  } catch (error) {
    if (!(error instanceof APIError)) throw error;
    return { step, status: error.status, ...told(error.headers ?? new Headers()), message: undefined };
  }
}

function told(headers: Headers): { action: string; reason: string } {
  return {
    action: headers.get('x-incontext-action') ?? '',
    reason: headers.get('x-incontext-reason') ?? '',
  };
}

/** One request with the real client; a stream is put together as clients do. */
export async function complete(
  client: OpenAI,
  body: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>,
  mark: string,
  stream: boolean,
): Promise<{ message: WireAssistant; headers: Headers }> {
  const headers = { [RUN_HEADER]: mark };
  if (!stream) {
    const { data, response } = await client.chat.completions.create(body, { headers }).withResponse();
    const message = data.choices[0]?.message;
    const calls = (message?.tool_calls ?? []).filter((call) => call.type === 'function');
    return { message: assistant(message?.content ?? null, calls), headers: response.headers };
  }
  const { data, response } = await client.chat.completions
    .create({ ...body, stream: true, stream_options: { include_usage: true } }, { headers })
    .withResponse();
  const chunks: Chunk[] = [];
  for await (const chunk of data) chunks.push(chunk);
  const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
  const content = deltas.map((delta) => delta.content ?? '').join('');
  const calls = joinedCalls(deltas);
  return { message: assistant(content === '' ? null : content, calls), headers: response.headers };
}

function assistant(content: string | null, calls: readonly WireCall[]): WireAssistant {
  return { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: [...calls] }) };
}

function joinedCalls(deltas: readonly Delta[]): WireCall[] {
  const calls = new Map<number, { id: string; name: string; input: string }>();
  for (const part of deltas.flatMap((delta) => delta.tool_calls ?? [])) {
    const call = calls.get(part.index) ?? { id: '', name: '', input: '' };
    call.id += part.id ?? '';
    call.name += part.function?.name ?? '';
    call.input += part.function?.arguments ?? '';
    calls.set(part.index, call);
  }
  return [...calls.values()].map(({ id, name, input }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: input },
  }));
}
