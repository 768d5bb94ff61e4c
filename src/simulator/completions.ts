import type { AnswerPiece } from './answer.js';
import { AnswerSize } from './answer-size.js';
import type { Call } from './call.js';
import { emptyChoice, gather } from './chat-shape.js';
import { type CompletionJob, prepareCompletion, startCompletion } from './completion-preparation.js';
import { checkCompletion, completionHandler, readCompletionRequest } from './completion-request.js';
import { textChunk, textCompletion, textUsageChunk } from './completion-shape.js';
import type { Instance } from './instance.js';
import { inTurn, oneAfterAnother } from './interleave.js';
import { readJsonObject } from './json-body.js';
import { textLogprobs } from './logprobs.js';
import { ScriptRun } from './script-run.js';
import { finalUsage, runningUsage, type TokenCounts, wholeUsage } from './usage.js';

/** `POST /v1/completions`, in JSON or as events. */
export async function answerCompletion(call: Call, instance: Instance): Promise<void> {
  const { vllm } = instance.options;
  const request = readJsonObject(call, vllm, completionHandler);
  const ask = readCompletionRequest(request, vllm);
  const model = instance.model(request.get('model'));
  checkCompletion(request, ask, vllm);
  const prepared = await prepareCompletion(call, instance, request, ask, model);
  const run = new ScriptRun(call, prepared.script, instance.options.chunkDelayMs);
  await instance.meters.whileRunning(async () => {
    await run.begin(ask.stream);
    const job = startCompletion(prepared, instance);
    await (ask.stream ? streamAnswer(call, job, run) : wholeAnswer(call, job, run));
  });
}

async function wholeAnswer(call: Call, job: CompletionJob, run: ScriptRun): Promise<void> {
  const choices = job.streams.map(emptyChoice);
  const pieces = job.streams.map((): AnswerPiece[] => []);
  const size = new AnswerSize(job.ask.logprobs ?? 0);
  let cut = false;
  for (const { index, piece } of inTurn(job.streams)) {
    cut = await run.beforeChunk();
    if (cut) break;
    size.add(piece.tokenIds.length);
    job.meters.countPiece(piece);
    const choice = choices[index];
    if (choice !== undefined) gather(choice, piece);
    pieces[index]?.push(piece);
  }
  cut ||= await run.breaksHere();
  for (const [index, choice] of choices.entries()) {
    choice.content = (job.prompts[index]?.text ?? '') + choice.content;
    const { logprobs } = job.ask;
    if (logprobs !== null) choice.logprobs = textLogprobs(pieces[index] ?? [], logprobs, job.tokenizer);
  }
  const completion = choices.reduce((sum, choice) => sum + choice.tokenIds.length, 0);
  const promptIds = job.prompts.map(({ ids }) => (job.ask.returnTokenIds ? ids : null));
  const usage = wholeUsage(counts(job, completion), job.head.vllm);
  const body = JSON.stringify(textCompletion(job.head, choices, usage, promptIds));
  if (cut) await call.cut({ status: 200, body });
  else call.respond(200, body);
}

async function streamAnswer(call: Call, job: CompletionJob, run: ScriptRun): Promise<void> {
  const { ask, head } = job;
  const begun = new Set<number>();
  let written = 0;
  call.beginEvents();
  const pieces = head.vllm === '0.16' ? inTurn(job.streams) : oneAfterAnother(job.streams);
  for (const { index, piece } of pieces) {
    if (await run.beforeChunk()) return await call.cut();
    job.meters.countPiece(piece);
    written += piece.tokenIds.length;
    const prompt = begun.has(index) ? undefined : job.prompts[index];
    begun.add(index);
    const text = (prompt?.text ?? '') + (piece.text ?? '');
    const chunk = textChunk(
      head,
      index,
      { ...piece, text },
      {
        logprobs: ask.logprobs === null ? null : textLogprobs([piece], ask.logprobs, job.tokenizer),
        promptIds: ask.returnTokenIds ? (prompt?.ids ?? null) : null,
        returnTokenIds: ask.returnTokenIds,
        usage: ask.continuousUsage ? runningUsage(counts(job, written), head.vllm) : null,
      },
    );
    await call.event(JSON.stringify(chunk));
  }
  if (await run.breaksHere()) return await call.cut();
  const error = run.inBandError();
  if (error !== null) await call.event(JSON.stringify(error));
  else if (ask.includeUsage) {
    await call.event(JSON.stringify(textUsageChunk(head, finalUsage(counts(job, written), head.vllm))));
  }
  await call.event('[DONE]');
  await call.end();
}

function counts(job: CompletionJob, completion: number): TokenCounts {
  return { prompt: job.promptTokens, completion, cached: job.cached, reasoning: null };
}
