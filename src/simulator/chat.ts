import { AnswerSize } from './answer-size.js';
import type { Call } from './call.js';
import { type ChatJob, counts, keepAnswer, startChat } from './chat-job.js';
import { prepareChat } from './chat-preparation.js';
import { chatCompletion, emptyChoice, gather, pieceChunk, roleChunk, usageChunk } from './chat-shape.js';
import type { Instance } from './instance.js';
import { inTurn } from './interleave.js';
import { chatLogprobs, promptLogprobs } from './logprobs.js';
import { ScriptRun } from './script-run.js';
import { finalUsage, runningUsage, type TokenCounts, wholeUsage } from './usage.js';

/** `POST /v1/chat/completions`, in JSON or as events. */
export async function answerChat(call: Call, instance: Instance): Promise<void> {
  const prepared = await prepareChat(call, instance);
  const run = new ScriptRun(call, prepared.script, instance.options.chunkDelayMs);
  await instance.meters.whileRunning(async () => {
    await run.begin(prepared.ask.stream);
    const job = startChat(prepared, instance);
    await (job.ask.stream ? streamAnswer(call, job, run) : wholeAnswer(call, job, run));
  });
}

async function wholeAnswer(call: Call, job: ChatJob, run: ScriptRun): Promise<void> {
  const { ask, head, instance } = job;
  const choices = job.streams.map(emptyChoice);
  const size = new AnswerSize(ask.logprobs ? Math.max(1, ask.topLogprobs) : 0);
  let cut = false;
  for (const { index, piece } of inTurn(job.streams)) {
    cut = await run.beforeChunk();
    if (cut) break;
    size.add(piece.tokenIds.length);
    instance.meters.countPiece(piece);
    const choice = choices[index];
    if (choice !== undefined) gather(choice, piece);
  }
  cut ||= await run.breaksHere();
  for (const choice of choices) {
    await call.pause(0);
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
  if (cut) await call.cut({ status: 200, body });
  else call.respond(200, body);
}

async function streamAnswer(call: Call, job: ChatJob, run: ScriptRun): Promise<void> {
  const { ask, head, instance } = job;
  const answered = job.streams.map((): number[] => []);
  const kept = new AnswerSize(0);
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
    if (await run.beforeChunk()) return await call.cut();
    instance.meters.countPiece(piece);
    written += piece.tokenIds.length;
    if (piece.reasoning !== undefined) reasoned += piece.tokenIds.length;
    kept.count(piece.tokenIds.length);
    if (!kept.isFull) answered[index]?.push(...piece.tokenIds);
    const extras = {
      logprobs: ask.logprobs ? chatLogprobs(piece.tokenIds, ask.topLogprobs, instance.tokenizer) : null,
      returnTokenIds: ask.returnTokenIds,
      usage: running(),
      carriesFingerprint: !ask.includeUsage,
    };
    await call.event(JSON.stringify(pieceChunk(head, index, piece, extras)));
  }
  if (await run.breaksHere()) return await call.cut();
  for (const ids of answered) {
    await call.pause(0);
    keepAnswer(job, ids);
  }
  await endStream(call, job, run, counts(job, written, reasoned));
}

async function endStream(call: Call, job: ChatJob, run: ScriptRun, total: TokenCounts): Promise<void> {
  const error = run.inBandError();
  if (error !== null) await call.event(JSON.stringify(error));
  else if (job.ask.includeUsage) {
    await call.event(JSON.stringify(usageChunk(job.head, finalUsage(total, job.head.vllm))));
  }
  await call.event('[DONE]');
  await call.end();
}
