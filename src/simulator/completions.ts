import { type AnswerPiece, answerPieces, seedOf } from './answer.js';
import type { Call } from './call.js';
import { type AnswerHead, emptyChoice, gather } from './chat-shape.js';
import {
  type CompletionAsk,
  type CompletionPrompt,
  checkCompletion,
  completionHandler,
  readCompletionRequest,
} from './completion-request.js';
import { textChunk, textCompletion, textUsageChunk } from './completion-shape.js';
import { type Instance, now } from './instance.js';
import { inTurn, oneAfterAnother } from './interleave.js';
import { readJsonObject } from './json-body.js';
import { type Ask, checkCap, checkPrompt, effectiveCap } from './limits.js';
import { textLogprobs } from './logprobs.js';
import type { Meters } from './meters.js';
import type { ServedModel } from './options.js';
import { countedPrompt, keptTokens, truncated } from './prompt-tokens.js';
import { type Script, scriptOfText } from './script.js';
import { ScriptRun } from './script-run.js';
import type { QwenTokenizer } from './tokenizer.js';
import { finalUsage, runningUsage, type TokenCounts, wholeUsage } from './usage.js';

interface CompletionJob {
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

/** `POST /v1/completions`, in JSON or as events. */
export async function answerCompletion(call: Call, instance: Instance): Promise<void> {
  const { vllm } = instance.options;
  const request = readJsonObject(call, vllm, completionHandler);
  const ask = readCompletionRequest(request, vllm);
  const model = instance.model(request.get('model'));
  checkCompletion(request, ask, vllm);
  const job = prepare(call, instance, ask, model);
  const run = new ScriptRun(call, job.script, instance.options.chunkDelayMs);
  await instance.meters.whileRunning(async () => {
    await run.begin(ask.stream);
    await (ask.stream ? streamAnswer(call, job, run) : wholeAnswer(call, job, run));
  });
}

function prepare(call: Call, instance: Instance, ask: CompletionAsk, model: ServedModel): CompletionJob {
  const { tokenizer, options } = instance;
  const echoesOnly = ask.echo && ask.maxTokens === 0;
  const limits: Ask = {
    vllm: options.vllm,
    maxModelLen: model.maxModelLen,
    maxTokens: echoesOnly ? 1 : ask.maxTokens,
    field: 'max_tokens',
  };
  checkCap(limits);
  const promptIds = ask.prompts.map((prompt) => readPrompt(prompt, tokenizer, limits, ask));
  const caps = promptIds.map((ids) => effectiveCap(limits, ids.length));
  const cache = instance.prefixCache(model);
  const cached = promptIds.reduce((sum, ids) => sum + cache.lookUp(ids), 0);
  for (const ids of promptIds) cache.store(ids);
  instance.meters.countPrompt(
    promptIds.reduce((sum, ids) => sum + ids.length, 0),
    cached,
  );
  const script = scriptOfText(ask.prompts.filter((prompt) => typeof prompt === 'string').join('\n'));
  const plans = promptIds.flatMap((ids, at) =>
    Array.from({ length: ask.choices }, (_, choice) => ({
      prompt: { ids, text: ask.echo ? tokenizer.decode(ids) : '' },
      plan: {
        script,
        cap: caps[at] ?? 1,
        seed: seedOf(ids, `${ask.seed}:${choice}`),
        stop: ask.stop,
        keepStop: ask.keepStop,
        thinks: false,
        showsCutCalls: true,
        callFinish: 'tool_calls' as const,
      },
    })),
  );
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
    prompts: plans.map(({ prompt }) => prompt),
    promptTokens: promptIds.reduce((sum, ids) => sum + ids.length, 0),
    cached: options.enablePromptTokensDetails ? cached : 0,
    streams: plans.map(({ plan }) => (echoesOnly ? echoOnly() : answerPieces(plan, tokenizer))),
  };
}

function* echoOnly(): Generator<AnswerPiece> {
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

async function wholeAnswer(call: Call, job: CompletionJob, run: ScriptRun): Promise<void> {
  const choices = job.streams.map(emptyChoice);
  const pieces = job.streams.map((): AnswerPiece[] => []);
  let cut = false;
  for (const { index, piece } of inTurn(job.streams)) {
    cut = await run.beforeChunk();
    if (cut) break;
    job.meters.countPiece(piece);
    const choice = choices[index];
    if (choice !== undefined) gather(choice, piece);
    pieces[index]?.push(piece);
  }
  for (const [index, choice] of choices.entries()) {
    choice.content = (job.prompts[index]?.text ?? '') + choice.content;
    const { logprobs } = job.ask;
    if (logprobs !== null) choice.logprobs = textLogprobs(pieces[index] ?? [], logprobs, job.tokenizer);
  }
  const completion = choices.reduce((sum, choice) => sum + choice.tokenIds.length, 0);
  const promptIds = job.prompts.map(({ ids }) => (job.ask.returnTokenIds ? ids : null));
  const usage = wholeUsage(counts(job, completion), job.head.vllm);
  const body = JSON.stringify(textCompletion(job.head, choices, usage, promptIds));
  if (cut) call.cut(body);
  else call.respond(200, body);
}

async function streamAnswer(call: Call, job: CompletionJob, run: ScriptRun): Promise<void> {
  const { ask, head } = job;
  const begun = new Set<number>();
  let written = 0;
  call.beginEvents();
  const pieces = head.vllm === '0.16' ? inTurn(job.streams) : oneAfterAnother(job.streams);
  for (const { index, piece } of pieces) {
    if (await run.beforeChunk()) return call.cut();
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
  const error = run.inBandError();
  if (error !== null) await call.event(JSON.stringify(error));
  else if (ask.includeUsage) {
    await call.event(JSON.stringify(textUsageChunk(head, finalUsage(counts(job, written), head.vllm))));
  }
  await call.event('[DONE]');
  call.end();
}

function counts(job: CompletionJob, completion: number): TokenCounts {
  return { prompt: job.promptTokens, completion, cached: job.cached, reasoning: null };
}
