import { readBody } from '../body/raw-object.js';
import type { Message } from '../conversation/message.js';
import { messageText } from '../conversation/view.js';
import { type CompleteOptions, type Completion, CompletionError } from '../engines/services.js';
import type { Forwarder } from '../upstream/forwarder.js';
import { NoAnswerError, type WholeAnswer, wholeAnswer } from '../upstream/whole-answer.js';
import { countPrompt } from './count.js';
import type { AuxiliaryCaller, ExchangeParts } from './parts.js';

const PATH = '/v1/chat/completions';

/** Where an engine's own requests go, where not to the upstream of the caller. */
export interface AuxiliaryServer {
  readonly forwarder: Forwarder;
  readonly apiKey: string | undefined;
  readonly model: string | undefined;
  /** Counts for that server, and knows its context lengths. */
  readonly counting: Pick<ExchangeParts, 'backend' | 'models' | 'drift' | 'upstream'>;
}

export interface AuxiliaryParts extends ExchangeParts {
  readonly forwarder: Forwarder;
  readonly auxiliary: {
    /** `undefined`: the caller's upstream. */
    readonly server: AuxiliaryServer | undefined;
    readonly timeoutSeconds: number;
    /** True where the server understands `chat_template_kwargs`, and the model is not to think before it writes. */
    readonly asksNotToThink: boolean;
  };
}

/** What a request authenticates with. */
type Keys = Pick<AuxiliaryCaller, 'credential' | 'apiKey'>;

/** Members of a request beside its messages. */
interface Ask {
  readonly model: string | undefined;
  readonly maxTokens: number | undefined;
  readonly asksNotToThink: boolean;
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
  const timeout = AbortSignal.timeout(parts.auxiliary.timeoutSeconds * 1000);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  try {
    const completion = await complete(messages, options, caller, signal, parts);
    parts.metrics.summaryCalled('completed');
    return completion;
  } catch (error) {
    // Too slow for a summary is no outage: the engine does without the model.
    const isKnown = error instanceof CompletionError && !timeout.aborted;
    const failure = isKnown ? error : new CompletionError('failed');
    parts.metrics.summaryCalled(options.signal?.aborted === true ? 'aborted' : failure.failure);
    options.signal?.throwIfAborted();
    throw failure;
  }
}

async function complete(
  messages: readonly Message[],
  options: CompleteOptions,
  caller: AuxiliaryCaller,
  signal: AbortSignal,
  parts: AuxiliaryParts,
): Promise<Completion> {
  const { server, asksNotToThink } = parts.auxiliary;
  const forwarder = server?.forwarder ?? parts.forwarder;
  const keys: Keys = server === undefined ? caller : { credential: bearer(server.apiKey) };
  const asking: AuxiliaryCaller = { ...keys, model: server?.model ?? caller.model };
  const maxTokens = await fittingCap(messages, options, asking, signal, parts);
  const ask: Ask = { model: asking.model, maxTokens, asksNotToThink };
  const answer = await send(forwarder, requestBody(messages, ask), keys, signal);
  if (!asksNotToThink || !REFUSES_MEMBERS.has(answer.status)) return readCompletion(answer);
  // Some templates take no arguments, and the server says so in as many ways.
  const plain = requestBody(messages, { ...ask, asksNotToThink: false });
  return readCompletion(await send(forwarder, plain, keys, signal));
}

const REFUSES_MEMBERS = new Set([400, 422]);

async function fittingCap(
  messages: readonly Message[],
  { maxTokens }: CompleteOptions,
  { model, credential, apiKey }: AuxiliaryCaller,
  signal: AbortSignal,
  parts: AuxiliaryParts,
): Promise<number> {
  const { asksNotToThink, server } = parts.auxiliary;
  const counting: ExchangeParts = server === undefined ? parts : { ...parts, ...server.counting };
  const budget = counting.models.resolve(model);
  const body = readBody(requestBody(messages, { model, maxTokens: undefined, asksNotToThink }));
  if (body.kind !== 'object') throw new CompletionError('failed');
  const counted = await countPrompt(body.object, budget, { signal, credential, apiKey }, counting);
  // A server of the operator's own choice may be of a kind that tells nothing.
  if (counted.kind === 'uncounted' && server !== undefined) return maxTokens;
  if (counted.kind === 'uncounted') throw new CompletionError('failed');
  const remaining = counted.contextLength - counted.promptTokens;
  const least = Math.min(budget.reserve, maxTokens);
  // An estimate is no reason to do without a server that was chosen for this.
  const isGuess = counted.source === 'rough-fallback' && server !== undefined;
  if (remaining < least && !isGuess) throw new CompletionError('failed');
  return Math.min(maxTokens, Math.max(remaining, least), budget.operatorCap ?? maxTokens);
}

function requestBody(messages: readonly Message[], { model, maxTokens, asksNotToThink }: Ask): Buffer {
  const members = { model, max_tokens: maxTokens, temperature: 0, stream: false };
  // A summary needs no thinking, which would eat its cap.
  const template = asksNotToThink ? { chat_template_kwargs: { enable_thinking: false } } : {};
  const rest = JSON.stringify({ ...members, ...template });
  return Buffer.from(`{"messages":[${messages.map(messageText).join(',')}],${rest.slice(1)}`);
}

function bearer(apiKey: string | undefined): string | undefined {
  return apiKey === undefined ? undefined : `Bearer ${apiKey}`;
}

async function send(
  forwarder: Forwarder,
  body: Buffer,
  { credential, apiKey }: Keys,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  try {
    return await wholeAnswer(forwarder, { path: PATH, body, credential, apiKey }, signal);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    throw new CompletionError(error.code === 'too_long' ? 'failed' : 'unavailable');
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
