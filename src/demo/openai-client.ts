import type { OpenAI } from 'openai';
import { absentPackages } from './optional-packages.js';

type Message = OpenAI.ChatCompletionMessageParam;
type AssistantMessage = OpenAI.ChatCompletionAssistantMessageParam;
type ToolCall = OpenAI.ChatCompletionMessageFunctionToolCall;
type Chunk = OpenAI.ChatCompletionChunk;

export interface ChatRequest {
  readonly body: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'>;
  readonly stream: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ChatAnswer {
  /** `undefined` where no answer came. */
  readonly status: number | undefined;
  readonly headers: Headers;
  readonly message: AssistantMessage | undefined;
  readonly finishReason: string | undefined;
  readonly promptTokens: number | undefined;
}

/** Sends one request and reads its whole answer. Refusals come back, they are not thrown. */
export type Chat = (request: ChatRequest) => Promise<ChatAnswer>;

/** The optional package `openai` is not installed, and maybe others that the demo needs. */
export class MissingClientError extends Error {
  override readonly name = 'MissingClientError';
  constructor(packages: readonly string[], options?: ErrorOptions) {
    const what = packages.length === 1 ? 'package' : 'packages';
    super(
      `the demo needs the optional ${what} ${packages.join(', ')}: install again with npm install --include=optional`,
      options,
    );
  }
}

/**
 * Loads the official client.
 * @returns how to make a `Chat` for a server
 * @throws MissingClientError
 */
export async function loadClient(
  load: () => Promise<typeof import('openai')> = () => import('openai'),
  absent: () => readonly string[] = absentPackages,
): Promise<(serverUrl: string) => Chat> {
  const { OpenAI: Client, APIError } = await load().catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new MissingClientError([...new Set(['openai', ...absent()])], { cause: error });
  });
  return (serverUrl) => {
    const client = new Client({
      baseURL: `${serverUrl}/v1`,
      apiKey: 'none',
      organization: null,
      project: null,
      maxRetries: 0,
      logLevel: 'off',
    });
    return async (request) => {
      try {
        return await (request.stream ? streamed(client, request) : whole(client, request));
      } catch (error) {
        if (!(error instanceof APIError)) throw error;
        const nothing = { message: undefined, finishReason: undefined, promptTokens: undefined };
        return { status: error.status, headers: error.headers ?? new Headers(), ...nothing };
      }
    };
  };
}

async function whole(client: OpenAI, { body, headers }: ChatRequest): Promise<ChatAnswer> {
  const { data, response } = await client.chat.completions.create(body, { headers }).withResponse();
  const choice = data.choices[0];
  return {
    status: response.status,
    headers: response.headers,
    message: choice === undefined ? undefined : { role: 'assistant', content: choice.message.content },
    finishReason: choice?.finish_reason,
    promptTokens: data.usage?.prompt_tokens,
  };
}

async function streamed(client: OpenAI, { body, headers }: ChatRequest): Promise<ChatAnswer> {
  const { data, response } = await client.chat.completions
    .create({ ...body, stream: true, stream_options: { include_usage: true } }, { headers })
    .withResponse();
  const chunks: Chunk[] = [];
  for await (const chunk of data) chunks.push(chunk);
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const calls = joinCalls(choices);
  const content = choices.map((choice) => choice.delta.content ?? '').join('');
  return {
    status: response.status,
    headers: response.headers,
    message: { role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
    finishReason: choices.findLast((choice) => choice.finish_reason !== null)?.finish_reason ?? undefined,
    promptTokens: chunks.findLast((chunk) => chunk.usage)?.usage?.prompt_tokens,
  };
}

function joinCalls(choices: readonly OpenAI.ChatCompletionChunk.Choice[]): ToolCall[] {
  const calls = new Map<number, ToolCall>();
  for (const delta of choices.flatMap((choice) => choice.delta.tool_calls ?? [])) {
    const call = calls.get(delta.index) ?? {
      id: '',
      type: 'function',
      function: { name: '', arguments: '' },
    };
    call.id += delta.id ?? '';
    call.function.name += delta.function?.name ?? '';
    call.function.arguments += delta.function?.arguments ?? '';
    calls.set(delta.index, call);
  }
  return [...calls.values()];
}

export type { Message };
