import { type AnswerPiece, answerPieces, seedsOf } from './answer.js';
import type { PreparedChat } from './chat-preparation.js';
import type { Instance } from './instance.js';
import { streamedScript, unfinished } from './script-run.js';
import type { TokenCounts } from './usage.js';

/** A generation in progress: a chat's, or that of an endpoint which is rendered as one. */
export interface ChatJob extends PreparedChat {
  readonly instance: Instance;
  readonly cached: number;
  readonly streams: readonly Iterator<AnswerPiece>[];
}

/** Begins to answer; one stream of pieces for each choice. */
export function startChat(prepared: PreparedChat, instance: Instance): ChatJob {
  const cached = useCache(prepared, instance);
  return { ...prepared, instance, cached, streams: answerStreams(prepared, instance) };
}

/** Prompt tokens that were in the cache. Only what is generated from enters it, not what a script refuses. */
function useCache({ model, promptIds, ask }: PreparedChat, instance: Instance): number {
  const cache = instance.prefixCache(model);
  const cached = cache.lookUp(promptIds, ask.cacheSalt);
  cache.store(promptIds, ask.cacheSalt);
  instance.meters.countPrompt(promptIds.length, cached);
  return cached;
}

function answerStreams(prepared: PreparedChat, instance: Instance): Iterator<AnswerPiece>[] {
  const { ask, cap, promptIds, request, head } = prepared;
  const script = ask.stream ? streamedScript(prepared.script) : prepared.script;
  const demanded = head.vllm === '0.16' && ask.namedTool !== null;
  const plan = {
    script,
    cap,
    stop: ask.stop,
    stopIds: ask.stopIds,
    keepStop: ask.keepStop,
    thinks: instance.options.reasoningParser !== undefined && instance.renderer.thinks(request),
    showsCutCalls: ask.stream || demanded,
    callFinish: demanded ? 'stop' : 'tool_calls',
  } as const;
  const seed = seedsOf(promptIds);
  return Array.from({ length: ask.choices }, (_, index) => {
    const pieces = answerPieces({ ...plan, seed: seed(`${ask.seed}:${index}`) }, instance.tokenizer);
    return script.error === undefined ? pieces : unfinished(pieces);
  });
}

/** What was answered is in the cache from then on. */
export function keepAnswer(job: ChatJob, ids: readonly number[]): void {
  job.instance.prefixCache(job.model).store([...job.promptIds, ...ids], job.ask.cacheSalt);
}

export function counts(job: ChatJob, completion: number, reasoning: number): TokenCounts {
  const { enablePromptTokensDetails, reasoningParser } = job.instance.options;
  return {
    prompt: job.promptIds.length,
    completion,
    cached: enablePromptTokensDetails ? job.cached : 0,
    reasoning: reasoningParser === undefined ? null : reasoning,
  };
}
