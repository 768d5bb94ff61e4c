import { type AnswerPiece, answerPieces, seedsOf } from './answer.js';
import type { Call } from './call.js';
import type { AnswerHead } from './chat-shape.js';
import type { CompletionAsk, CompletionPrompt } from './completion-request.js';
import { type Instance, now } from './instance.js';
import { type Ask, checkCap, checkPrompt, effectiveCap } from './limits.js';
import type { Meters } from './meters.js';
import type { ServedModel } from './options.js';
import { countedPrompt, keptTokens, truncated } from './prompt-tokens.js';
import type { PythonDict } from './python-value.js';
import { scriptOfText } from './script.js';
import { streamedScript, unfinished } from './script-run.js';
import type { Script } from './script-schema.js';
import type { QwenTokenizer } from './tokenizer.js';
import type { VllmVersion } from './version.js';

/** A text completion that passed every check. */
export interface PreparedCompletion {
  readonly ask: CompletionAsk;
  readonly model: ServedModel;
  readonly head: AnswerHead;
  readonly script: Script;
  readonly promptIds: readonly (readonly number[])[];
  /** Prompt and most tokens of each choice. */
  readonly choices: readonly {
    readonly ids: readonly number[];
    readonly cap: number;
    readonly seed: number;
  }[];
}

/** A generation in progress. */
export interface CompletionJob extends PreparedCompletion {
  readonly tokenizer: QwenTokenizer;
  readonly meters: Meters;
  /** The prompt of each choice. */
  readonly prompts: readonly { readonly ids: readonly number[]; readonly text: string }[];
  readonly promptTokens: number;
  readonly cached: number;
  readonly streams: readonly Iterator<AnswerPiece>[];
}

/** @throws Refusal in the server's words */
export async function prepareCompletion(
  call: Call,
  instance: Instance,
  request: PythonDict,
  ask: CompletionAsk,
  model: ServedModel,
): Promise<PreparedCompletion> {
  const { tokenizer, options } = instance;
  const limits = limitsOf(ask, model, options.vllm);
  checkCap(limits);
  const promptIds: (readonly number[])[] = [];
  for (const prompt of ask.prompts) promptIds.push(await readPrompt(prompt, tokenizer, limits, ask));
  const scripted = scriptOfText(ask.prompts.filter((prompt) => typeof prompt === 'string').join('\n'));
  const choices = promptIds.flatMap((ids) => {
    const cap = effectiveCap(limits, ids.length);
    const seed = seedsOf(ids);
    return Array.from({ length: ask.choices }, (_, at) => ({ ids, cap, seed: seed(`${ask.seed}:${at}`) }));
  });
  const head = {
    id: `cmpl-${call.header('x-request-id') ?? instance.nextId()}`,
    created: now(),
    model: model.id,
    vllm: options.vllm,
    fingerprint: instance.fingerprint,
  };
  const script = instance.attempts.choose(scripted, call.path, request);
  return { ask, model, head, script, promptIds, choices };
}

/** Begins to generate; only now the prompts enter the prefix cache. */
export function startCompletion(prepared: PreparedCompletion, instance: Instance): CompletionJob {
  const { ask, model, promptIds, choices } = prepared;
  const { tokenizer, meters, options } = instance;
  const script = ask.stream ? streamedScript(prepared.script) : prepared.script;
  const promptTokens = promptIds.reduce((sum, ids) => sum + ids.length, 0);
  const cached = useCache(instance, model, promptIds, ask.cacheSalt);
  meters.countPrompt(promptTokens, cached);
  return {
    ...prepared,
    tokenizer,
    meters,
    prompts: choices.map(({ ids }) => ({ ids, text: ask.echo ? tokenizer.decode(ids) : '' })),
    promptTokens,
    cached: options.enablePromptTokensDetails ? cached : 0,
    streams: choices.map(({ cap, seed }) => {
      const made = pieces(ask, script, cap, seed, tokenizer);
      return script.error === undefined ? made : unfinished(made);
    }),
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
    maxTokensText: ask.maxTokensText === '' ? String(ask.maxTokens) : ask.maxTokensText,
    field: 'max_tokens',
    minTokens: ask.minTokens,
  };
}

function useCache(
  instance: Instance,
  model: ServedModel,
  promptIds: readonly (readonly number[])[],
  salt: string,
): number {
  const cache = instance.prefixCache(model);
  const cached = promptIds.reduce((sum, ids) => sum + cache.lookUp(ids, salt), 0);
  for (const ids of promptIds) cache.store(ids, salt);
  return cached;
}

function pieces(
  ask: CompletionAsk,
  script: Script,
  cap: number,
  seed: number,
  tokenizer: QwenTokenizer,
): Generator<AnswerPiece> {
  if (echoesOnly(ask)) return nothing();
  const { stop, stopIds, keepStop } = ask;
  return answerPieces(
    {
      script,
      cap,
      seed,
      stop,
      stopIds,
      keepStop,
      thinks: false,
      showsCutCalls: true,
      callFinish: 'tool_calls',
    },
    tokenizer,
  );
}

function* nothing(): Generator<AnswerPiece> {
  yield { tokenIds: [], text: '', finish: { reason: 'length', stop: null } };
}

async function readPrompt(
  prompt: CompletionPrompt,
  tokenizer: QwenTokenizer,
  limits: Ask,
  ask: CompletionAsk,
): Promise<readonly number[]> {
  if (typeof prompt === 'string') return countedPrompt(prompt, tokenizer, limits, ask);
  const kept = keptTokens(ask, limits);
  if (kept !== null) return truncated(prompt, kept, ask.truncateFrom);
  checkPrompt(limits, prompt.length, 'ids');
  return prompt;
}
