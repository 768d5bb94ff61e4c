import { type AnswerPiece, answerPieces, seedOf } from './answer.js';
import type { Call } from './call.js';
import { type PreparedChat, prepareChat } from './chat-preparation.js';
import { chatCompletion, emptyChoice, gather, pieceChunk, roleChunk, usageChunk } from './chat-shape.js';
import type { Instance } from './instance.js';
import { inTurn } from './interleave.js';
import { chatLogprobs, promptLogprobs } from './logprobs.js';
import { ScriptRun } from './script-run.js';
import { finalUsage, runningUsage, type TokenCounts, wholeUsage } from './usage.js';

/** A generation in progress. */
interface ChatJob extends PreparedChat {
  readonly instance: Instance;
  readonly cached: number;
  readonly streams: readonly Iterator<AnswerPiece>[];
}

/** `POST /v1/chat/completions`, in JSON or as events. */
export async function answerChat(call: Call, instance: Instance): Promise<void> {
  const prepared = prepareChat(call, instance);
  const cache = instance.prefixCache(prepared.model);
  const cached = cache.lookUp(prepared.promptIds);
  cache.store(prepared.promptIds);
  instance.meters.countPrompt(prepared.promptIds.length, cached);
  const job: ChatJob = { ...prepared, instance, cached, streams: answerStreams(prepared, instance) };
  const run = new ScriptRun(call, job.script, instance.options.chunkDelayMs);
  await instance.meters.whileRunning(async () => {
    await run.begin(job.ask.stream);
    await (job.ask.stream ? streamAnswer(call, job, run) : wholeAnswer(call, job, run));
  });
}

function answerStreams(prepared: PreparedChat, instance: Instance): Iterator<AnswerPiece>[] {
  const { ask, script, cap, promptIds, request, head } = prepared;
  const demanded = head.vllm === '0.16' && ask.namedTool !== null;
  const plan = {
    script,
    cap,
    stop: ask.stop,
    keepStop: ask.keepStop,
    thinks: instance.options.reasoningParser !== undefined && instance.renderer.thinks(request),
    showsCutCalls: ask.stream || demanded,
    callFinish: demanded ? 'stop' : 'tool_calls',
  } as const;
  return Array.from({ length: ask.choices }, (_, index) =>
    answerPieces({ ...plan, seed: seedOf(promptIds, `${ask.seed}:${index}`) }, instance.tokenizer),
  );
}

async function wholeAnswer(call: Call, job: ChatJob, run: ScriptRun): Promise<void> {
  const { ask, head, instance } = job;
  const choices = job.streams.map(emptyChoice);
  let cut = false;
  for (const { index, piece } of inTurn(job.streams)) {
    cut = await run.beforeChunk();
    if (cut) break;
    instance.meters.countPiece(piece);
    const choice = choices[index];
    if (choice !== undefined) gather(choice, piece);
  }
  for (const choice of choices) {
    keepAnswer(job, choice.tokenIds);
    choice.content = job.echoed + choice.content;
    if (ask.logprobs) choice.logprobs = chatLogprobs(choice.tokenIds, ask.topLogprobs, instance.tokenizer);
  }
  const written = choices.reduce((sum, choice) => sum + choice.tokenIds.length, 0);
  const reasoned = choices.reduce((sum, choice) => sum + choice.reasoningTokens, 0);
  const prompt = {
    ids: ask.returnTokenIds ? job.promptIds : null,
    logprobs: ask.echo ? promptLogprobs(job.promptIds, instance.tokenizer) : null,
  };
  const named = head.vllm === '0.16' && ask.namedTool !== null;
  const usage = wholeUsage(counts(job, written, reasoned), head.vllm);
  const body = JSON.stringify(chatCompletion(head, choices, usage, prompt, ask.returnTokenIds, named));
  if (cut) call.cut(body);
  else call.respond(200, body);
}

async function streamAnswer(call: Call, job: ChatJob, run: ScriptRun): Promise<void> {
  const { ask, head, instance } = job;
  const answered = job.streams.map((): number[] => []);
  let written = 0;
  let reasoned = 0;
  const running = (): object | null =>
    ask.continuousUsage ? runningUsage(counts(job, written, reasoned), head.vllm) : null;
  call.beginEvents();
  for (const index of job.streams.keys()) {
    const ids = ask.returnTokenIds ? job.promptIds : null;
    await call.event(JSON.stringify(roleChunk(head, index, ids, running())));
  }
  for (const { index, piece } of inTurn(job.streams)) {
    if (await run.beforeChunk()) return call.cut();
    instance.meters.countPiece(piece);
    written += piece.tokenIds.length;
    if (piece.reasoning !== undefined) reasoned += piece.tokenIds.length;
    answered[index]?.push(...piece.tokenIds);
    const extras = {
      logprobs: ask.logprobs ? chatLogprobs(piece.tokenIds, ask.topLogprobs, instance.tokenizer) : null,
      returnTokenIds: ask.returnTokenIds,
      usage: running(),
      carriesFingerprint: !ask.includeUsage,
    };
    await call.event(JSON.stringify(pieceChunk(head, index, piece, extras)));
  }
  for (const ids of answered) keepAnswer(job, ids);
  await endStream(call, job, run, counts(job, written, reasoned));
}

async function endStream(call: Call, job: ChatJob, run: ScriptRun, total: TokenCounts): Promise<void> {
  const error = run.inBandError();
  if (error !== null) await call.event(JSON.stringify(error));
  else if (job.ask.includeUsage) {
    await call.event(JSON.stringify(usageChunk(job.head, finalUsage(total, job.head.vllm))));
  }
  await call.event('[DONE]');
  call.end();
}

function keepAnswer(job: ChatJob, ids: readonly number[]): void {
  job.instance.prefixCache(job.model).store([...job.promptIds, ...ids]);
}

function counts(job: ChatJob, completion: number, reasoning: number): TokenCounts {
  const { enablePromptTokensDetails, reasoningParser } = job.instance.options;
  return {
    prompt: job.promptIds.length,
    completion,
    cached: enablePromptTokensDetails ? job.cached : 0,
    reasoning: reasoningParser === undefined ? null : reasoning,
  };
}
