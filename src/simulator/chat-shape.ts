import type { AnswerPiece, CallPiece } from './answer.js';
import type { VllmVersion } from './version.js';

/** What every piece of one answer repeats. */
export interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly vllm: VllmVersion;
  readonly fingerprint: string | null;
}

/** One choice, gathered from its pieces. */
export interface GatheredChoice {
  content: string;
  reasoning: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  readonly tokenIds: number[];
  reasoningTokens: number;
  logprobs: object | null;
  finish: string;
  stop: string | number | null;
}

export function emptyChoice(): GatheredChoice {
  return {
    content: '',
    reasoning: '',
    calls: [],
    tokenIds: [],
    reasoningTokens: 0,
    logprobs: null,
    finish: 'stop',
    stop: null,
  };
}

/** Adds what one step brought. */
export function gather(choice: GatheredChoice, piece: AnswerPiece): void {
  choice.content += piece.text ?? '';
  choice.reasoning += piece.reasoning ?? '';
  for (const id of piece.tokenIds) choice.tokenIds.push(id);
  if (piece.reasoning !== undefined) choice.reasoningTokens += piece.tokenIds.length;
  if (piece.call !== undefined) gatherCall(choice, piece.call);
  if (piece.finish === undefined) return;
  choice.finish = piece.finish.reason;
  choice.stop = piece.finish.stop;
}

function gatherCall(choice: GatheredChoice, piece: CallPiece): void {
  const call = choice.calls[piece.index];
  if (call === undefined)
    choice.calls.push({ id: piece.id ?? '', name: piece.name ?? '', arguments: piece.arguments });
  else call.arguments += piece.arguments;
}

/**
 * `chat.completion`, members in vLLM's order.
 * @param contentBesideCalls the content next to tool calls is an empty text, not null
 */
export function chatCompletion(
  head: AnswerHead,
  choices: readonly GatheredChoice[],
  usage: object,
  prompt: { readonly ids: readonly number[] | null; readonly logprobs: object | null },
  returnTokenIds: boolean,
  contentBesideCalls: boolean,
): object {
  const isOld = head.vllm === '0.16';
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: choices.map((choice, index) => ({
      index,
      message: message(choice, isOld, contentBesideCalls),
      logprobs: choice.logprobs,
      finish_reason: choice.finish,
      stop_reason: choice.stop,
      token_ids: returnTokenIds ? choice.tokenIds : null,
      ...(isOld ? {} : { routed_experts: null }),
    })),
    service_tier: null,
    system_fingerprint: head.fingerprint,
    usage,
    prompt_logprobs: prompt.logprobs,
    prompt_token_ids: prompt.ids,
    ...(isOld ? {} : { prompt_text: null }),
    kv_transfer_params: null,
    ...(isOld ? {} : { ec_transfer_params: null, metrics: null }),
  };
}

function message(choice: GatheredChoice, isOld: boolean, contentBesideCalls: boolean): object {
  const hasOther = !contentBesideCalls && (choice.calls.length > 0 || choice.reasoning !== '');
  const calls = choice.calls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  return {
    role: 'assistant',
    content: choice.content === '' && hasOther ? null : choice.content,
    refusal: null,
    annotations: null,
    audio: null,
    function_call: null,
    ...(isOld || calls.length > 0 ? { tool_calls: calls } : {}),
    reasoning: choice.reasoning === '' ? null : choice.reasoning,
  };
}

/** The first chunk of a choice: it only tells the role. */
export function roleChunk(
  head: AnswerHead,
  index: number,
  promptIds: readonly number[] | null,
  usage: object | null,
): object {
  return {
    ...chunkHead(head),
    choices: [{ index, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
    ...withUsage(usage),
    prompt_token_ids: promptIds,
    ...(head.vllm === '0.16' ? {} : { prompt_text: null }),
  };
}

export interface PieceExtras {
  readonly logprobs: object | null;
  readonly returnTokenIds: boolean;
  readonly usage: object | null;
  /** No usage chunk follows: the fingerprint comes with the finish. */
  readonly carriesFingerprint: boolean;
}

/** A chunk with what one step brought. */
export function pieceChunk(head: AnswerHead, index: number, piece: AnswerPiece, extras: PieceExtras): object {
  const tokenIds = extras.returnTokenIds ? piece.tokenIds : null;
  const { finish } = piece;
  return {
    ...chunkHead(head),
    choices: [
      {
        index,
        delta: delta(piece),
        logprobs: extras.logprobs,
        finish_reason: finish?.reason ?? null,
        ...(finish === undefined ? {} : { stop_reason: finish.stop }),
        token_ids: tokenIds,
      },
    ],
    ...withUsage(extras.usage),
    ...(finish !== undefined && extras.carriesFingerprint ? fingerprint(head) : {}),
  };
}

function delta(piece: AnswerPiece): object {
  if (piece.call !== undefined) return { tool_calls: [callDelta(piece.call)] };
  if (piece.reasoning !== undefined) return { reasoning: piece.reasoning };
  return { content: piece.text ?? '' };
}

function callDelta(call: CallPiece): object {
  if (call.id === undefined) return { index: call.index, function: { arguments: call.arguments } };
  return {
    id: call.id,
    type: 'function',
    index: call.index,
    function: { name: call.name, arguments: call.arguments },
  };
}

/** The last chunk of a stream with `include_usage`. */
export function usageChunk(head: AnswerHead, usage: object): object {
  return { ...chunkHead(head), choices: [], usage, ...fingerprint(head) };
}

function chunkHead(head: AnswerHead): object {
  return { id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model };
}

function withUsage(usage: object | null): object {
  return usage === null ? {} : { usage };
}

function fingerprint(head: AnswerHead): object {
  return head.fingerprint === null ? {} : { system_fingerprint: head.fingerprint };
}
