import type { AnswerPiece } from './answer.js';
import type { AnswerHead, GatheredChoice } from './chat-shape.js';

/** `text_completion`, members in vLLM's order. */
export function textCompletion(
  head: AnswerHead,
  choices: readonly GatheredChoice[],
  usage: object,
  promptIds: readonly (readonly number[] | null)[],
): object {
  const isOld = head.vllm === '0.16';
  return {
    ...completionHead(head),
    choices: choices.map((choice, index) => ({
      index,
      text: choice.content,
      logprobs: choice.logprobs,
      finish_reason: choice.finish,
      stop_reason: choice.stop,
      token_ids: promptIds[index] == null ? null : choice.tokenIds,
      prompt_logprobs: null,
      prompt_token_ids: promptIds[index] ?? null,
      ...(isOld ? {} : { routed_experts: null }),
    })),
    service_tier: null,
    system_fingerprint: head.fingerprint,
    usage,
    kv_transfer_params: null,
    ...(isOld ? {} : { ec_transfer_params: null, metrics: null }),
  };
}

/** A chunk of a streamed completion. */
export function textChunk(
  head: AnswerHead,
  index: number,
  piece: AnswerPiece,
  extras: {
    readonly logprobs: object | null;
    readonly promptIds: readonly number[] | null;
    readonly returnTokenIds: boolean;
    readonly usage: object | null;
  },
): object {
  const choice = {
    index,
    text: piece.text ?? '',
    logprobs: extras.logprobs,
    finish_reason: piece.finish?.reason ?? null,
    stop_reason: piece.finish?.stop ?? null,
    prompt_token_ids: extras.promptIds,
    token_ids: extras.returnTokenIds ? piece.tokenIds : null,
  };
  const showsUsage = head.vllm === '0.16' || extras.usage !== null;
  return { ...completionHead(head), choices: [choice], ...(showsUsage ? { usage: extras.usage } : {}) };
}

/** The last chunk of a stream with `include_usage`. */
export function textUsageChunk(head: AnswerHead, usage: object): object {
  const fingerprint = head.fingerprint === null ? {} : { system_fingerprint: head.fingerprint };
  return { ...completionHead(head), choices: [], usage, ...fingerprint };
}

function completionHead(head: AnswerHead): object {
  return { id: head.id, object: 'text_completion', created: head.created, model: head.model };
}
