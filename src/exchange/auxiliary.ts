import { readBody } from '../body/raw-object.js';
import type { Message } from '../conversation/message.js';
import { messageText } from '../conversation/view.js';
import { type CompleteOptions, type Completion, CompletionError } from '../engines/services.js';
import type { UpstreamError } from '../upstream/errors.js';
import type { Forwarder, UpstreamSink } from '../upstream/forwarder.js';
import { countPrompt } from './count.js';
import type { AuxiliaryCaller, ExchangeParts } from './parts.js';

/** The longest answer that is read, in bytes. */
const MOST_ANSWER_BYTES = 1024 * 1024;
const PATH = '/v1/chat/completions';

/** Where an engine's own requests go, where not to the upstream of the caller. */
export interface AuxiliaryServer {
  readonly forwarder: Forwarder;
  readonly apiKey: string | undefined;
  readonly model: string | undefined;
}

export interface AuxiliaryParts extends ExchangeParts {
  readonly forwarder: Forwarder;
  readonly auxiliary: {
    /** `undefined`: the caller's upstream. */
    readonly server: AuxiliaryServer | undefined;
    readonly timeoutSeconds: number;
  };
}

/**
 * One request of an engine's own, under the same budget rule as any other: its cap fits behind its prompt, or it is
 * not sent. Never compressed itself.
 * @throws CompletionError
 */
export async function completeForEngine(
  messages: readonly Message[],
  options: CompleteOptions,
  caller: AuxiliaryCaller,
  parts: AuxiliaryParts,
): Promise<Completion> {
  const { server, timeoutSeconds } = parts.auxiliary;
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  try {
    const maxTokens =
      server === undefined ? await fittingCap(messages, options, caller, signal, parts) : options.maxTokens;
    const model = server?.model ?? caller.model;
    const body = requestBody(messages, model, maxTokens);
    const credential = server === undefined ? caller.credential : bearer(server.apiKey);
    const answer = await send(server?.forwarder ?? parts.forwarder, body, credential, signal);
    const completion = readCompletion(answer);
    parts.metrics.summaryCalled('completed');
    return completion;
  } catch (error) {
    const failure =
      error instanceof CompletionError
        ? error
        : new CompletionError(signal.aborted ? 'unavailable' : 'failed');
    parts.metrics.summaryCalled(failure.failure);
    options.signal?.throwIfAborted();
    throw failure;
  }
}

async function fittingCap(
  messages: readonly Message[],
  { maxTokens }: CompleteOptions,
  { model, credential }: AuxiliaryCaller,
  signal: AbortSignal,
  parts: AuxiliaryParts,
): Promise<number> {
  const budget = parts.models.resolve(model);
  const body = readBody(requestBody(messages, model, undefined));
  if (body.kind !== 'object') throw new CompletionError('failed');
  const counted = await countPrompt(body.object, budget, { signal, credential }, parts);
  if (counted.kind === 'uncounted') throw new CompletionError('failed');
  const remaining = counted.contextLength - counted.promptTokens;
  if (remaining < Math.min(budget.reserve, maxTokens)) throw new CompletionError('failed');
  return Math.min(maxTokens, remaining, budget.operatorCap ?? maxTokens);
}

function requestBody(
  messages: readonly Message[],
  model: string | undefined,
  maxTokens: number | undefined,
): Buffer {
  const members = { model, max_tokens: maxTokens, temperature: 0, stream: false };
  // A summary needs no thinking, which would eat its cap.
  const template = { chat_template_kwargs: { enable_thinking: false } };
  const rest = JSON.stringify({ ...members, ...template });
  return Buffer.from(`{"messages":[${messages.map(messageText).join(',')}],${rest.slice(1)}`);
}

function bearer(apiKey: string | undefined): string | undefined {
  return apiKey === undefined ? undefined : `Bearer ${apiKey}`;
}

interface WholeAnswer {
  readonly status: number;
  readonly body: Buffer;
}

function send(
  forwarder: Forwarder,
  body: Buffer,
  credential: string | undefined,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  const headers = [
    'host',
    forwarder.host,
    'content-type',
    'application/json',
    'content-length',
    String(body.length),
  ];
  if (credential !== undefined) headers.push('authorization', credential);
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const sink = new CollectingSink(resolve, reject);
    const call = forwarder.send({ method: 'POST', path: PATH, headers, body }, sink);
    signal.addEventListener(
      'abort',
      () => {
        call.abort();
        reject(new CompletionError('unavailable'));
      },
      { once: true },
    );
  });
}

class CollectingSink implements UpstreamSink {
  #status = 0;
  #size = 0;
  readonly #chunks: Buffer[] = [];

  constructor(
    private readonly resolve: (answer: WholeAnswer) => void,
    private readonly reject: (error: CompletionError) => void,
  ) {}

  onHead(status: number): void {
    this.#status = status;
  }

  onData(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size <= MOST_ANSWER_BYTES) this.#chunks.push(chunk);
    return true;
  }

  onEnd(): void {
    if (this.#size > MOST_ANSWER_BYTES) this.reject(new CompletionError('failed'));
    else this.resolve({ status: this.#status, body: Buffer.concat(this.#chunks) });
  }

  onError(_error: UpstreamError): void {
    this.reject(new CompletionError('unavailable'));
  }
}

const REFUSED = new Set([401, 402, 403]);
const UNAVAILABLE = new Set([408, 429]);

function readCompletion({ status, body }: WholeAnswer): Completion {
  if (REFUSED.has(status)) throw new CompletionError('refused');
  if (UNAVAILABLE.has(status) || status >= 500) throw new CompletionError('unavailable');
  if (status !== 200) throw new CompletionError('failed');
  const choice = firstChoice(JSON.parse(body.toString()));
  const text = withoutThinking(choice?.message?.content);
  if (text === '') throw new CompletionError('failed');
  return { text, finishReason: typeof choice?.finish_reason === 'string' ? choice.finish_reason : undefined };
}

interface Choice {
  readonly message?: { readonly content?: unknown } | null;
  readonly finish_reason?: unknown;
}

function firstChoice(answer: unknown): Choice | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const choices: unknown = Reflect.get(answer, 'choices');
  return Array.isArray(choices) ? (choices[0] as Choice | undefined) : undefined;
}

/** Models that think in the answer's text do so in front of it. */
function withoutThinking(content: unknown): string {
  if (typeof content !== 'string') return '';
  return content.replace(/^\s*<think>[\s\S]*?(<\/think>|$)/, '').trim();
}
