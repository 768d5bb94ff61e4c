import { type AnswerPiece, answerPieces, seedOf } from './answer.js';
import type { Call } from './call.js';
import type { AnswerHead } from './chat-shape.js';
import type { CompletionAsk, CompletionPrompt } from './completion-request.js';
import { type Instance, now } from './instance.js';
import { type Ask, checkCap, checkPrompt, effectiveCap } from './limits.js';
import type { Meters } from './meters.js';
import type { ServedModel } from './options.js';
import { countedPrompt, keptTokens, truncated } from './prompt-tokens.js';
import { type Script, scriptOfText } from './script.js';
import type { QwenTokenizer } from './tokenizer.js';
import type { VllmVersion } from './version.js';

/** A text completion that passed every check. */
export interface CompletionJob {
  readonly ask: CompletionAsk;
  readonly head: AnswerHead;
  readonly tokenizer: QwenTokenizer;
  readonly meters: Meters;
  readonly script: Script;
  /** The prompt of each choice. */
  readonly prompts: readonly { readonly ids: readonly number[]; readonly text: string }[];
  readonly promptTokens: number;
  readonly cached: number;
  readonly streams: readonly Iterator<AnswerPiece>[];
}

/** @throws Refusal in the server's words */
export function prepareCompletion(
  call: Call,
  instance: Instance,
  ask: CompletionAsk,
  model: ServedModel,
): CompletionJob {
  const { tokenizer, options } = instance;
  const limits = limitsOf(ask, model, options.vllm);
  checkCap(limits);
  const promptIds = ask.prompts.map((prompt) => readPrompt(prompt, tokenizer, limits, ask));
  const script = scriptOfText(ask.prompts.filter((prompt) => typeof prompt === 'string').join('\n'));
  const choices = promptIds.flatMap((ids) => {
    const cap = effectiveCap(limits, ids.length);
    return Array.from({ length: ask.choices }, (_, at) => ({
      ids,
      cap,
      seed: seedOf(ids, `${ask.seed}:${at}`),
    }));
  });
  const promptTokens = promptIds.reduce((sum, ids) => sum + ids.length, 0);
  const cached = useCache(instance, model, promptIds);
  instance.meters.countPrompt(promptTokens, cached);
  return {
    ask,
    head: {
      id: `cmpl-${call.header('x-request-id') ?? instance.nextId()}`,
      created: now(),
      model: model.id,
      vllm: options.vllm,
      fingerprint: instance.fingerprint,
    },
    tokenizer,
    meters: instance.meters,
    script,
    prompts: choices.map(({ ids }) => ({ ids, text: ask.echo ? tokenizer.decode(ids) : '' })),
    promptTokens,
    cached: options.enablePromptTokensDetails ? cached : 0,
    streams: choices.map(({ cap, seed }) => pieces(ask, script, cap, seed, tokenizer)),
  };
}

function echoesOnly(ask: CompletionAsk): boolean {
  return ask.echo && ask.maxTokens === 0;
}

function limitsOf(ask: CompletionAsk, model: ServedModel, vllm: VllmVersion): Ask {
  return {
    vllm,
    maxModelLen: model.maxModelLen,
    maxTokens: echoesOnly(ask) ? 1 : ask.maxTokens,
    field: 'max_tokens',
    minTokens: ask.minTokens,
  };
}

function useCache(instance: Instance, model: ServedModel, promptIds: readonly (readonly number[])[]): number {
  const cache = instance.prefixCache(model);
  const cached = promptIds.reduce((sum, ids) => sum + cache.lookUp(ids), 0);
  for (const ids of promptIds) cache.store(ids);
  return cached;
}

function pieces(
  ask: CompletionAsk,
  script: Script,
  cap: number,
  seed: number,
  tokenizer: QwenTokenizer,
): Iterator<AnswerPiece> {
  if (echoesOnly(ask)) return nothing();
  const { stop, keepStop } = ask;
  return answerPieces(
    { script, cap, seed, stop, keepStop, thinks: false, showsCutCalls: true, callFinish: 'tool_calls' },
    tokenizer,
  );
}

function* nothing(): Generator<AnswerPiece> {
  yield { tokenIds: [], text: '', finish: { reason: 'length', stop: null } };
}

function readPrompt(
  prompt: CompletionPrompt,
  tokenizer: QwenTokenizer,
  limits: Ask,
  ask: CompletionAsk,
): readonly number[] {
  if (typeof prompt === 'string') return countedPrompt(prompt, tokenizer, limits, ask);
  const kept = keptTokens(ask, limits);
  if (kept !== null) return truncated(prompt, kept, ask.truncateFrom);
  checkPrompt(limits, prompt.length, 'ids');
  return prompt;
}
