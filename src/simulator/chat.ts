import { type AnswerPiece, answerPieces, seedOf } from './answer.js';
import type { Call } from './call.js';
import { type ChatAsk, chatHandler, readChatRequest } from './chat-request.js';
import {
  type AnswerHead,
  chatCompletion,
  emptyChoice,
  type GatheredChoice,
  gather,
  pieceChunk,
  roleChunk,
  usageChunk,
} from './chat-shape.js';
import { type Instance, now } from './instance.js';
import { readJsonObject } from './json-body.js';
import { type Ask, checkCap, effectiveCap } from './limits.js';
import { countedPrompt } from './prompt-tokens.js';
import { isDict, isList, type PythonDict, type PythonValue } from './python-value.js';
import { type Script, scriptOfMessages } from './script.js';
import { ScriptRun } from './script-run.js';
import { finalUsage, runningUsage, type TokenCounts, wholeUsage } from './usage.js';

/** A chat request that passed every check. */
interface ChatJob {
  readonly ask: ChatAsk;
  readonly head: AnswerHead;
  readonly promptIds: readonly number[];
  readonly cached: number;
  readonly script: Script;
  readonly echoed: string;
  readonly streams: readonly Iterator<AnswerPiece>[];
  readonly finishedIds: (ids: readonly number[]) => void;
  readonly reasoningParser: boolean;
}

/** `POST /v1/chat/completions`, in JSON or as events. */
export async function answerChat(call: Call, instance: Instance): Promise<void> {
  const job = prepare(call, instance);
  const run = new ScriptRun(call, job.script, instance.options.chunkDelayMs);
  await run.begin(job.ask.stream);
  if (job.ask.stream) await streamAnswer(call, job, run);
  else await wholeAnswer(call, job, run);
}

function prepare(call: Call, instance: Instance): ChatJob {
  const { vllm } = instance.options;
  const request = readJsonObject(call, vllm, chatHandler);
  const ask = readChatRequest(request, vllm);
  const model = instance.model(request.get('model'));
  const limits: Ask = {
    vllm,
    maxModelLen: model.maxModelLen,
    maxTokens: ask.maxTokens,
    field: ask.maxTokensField,
  };
  checkCap(limits);
  const text = instance.renderer.render(request, 'chat', model.id);
  const promptIds = countedPrompt(text, instance.tokenizer, limits, ask);
  const cap = effectiveCap(limits, promptIds.length);
  const given = request.get('messages');
  const messages: readonly PythonValue[] = isList(given) ? given : [];
  const script = scriptOfMessages(messages);
  const cache = instance.prefixCache(model);
  const cached = instance.options.enablePromptTokensDetails ? cache.lookUp(promptIds) : 0;
  cache.store(promptIds);
  const thinks = instance.options.reasoningParser !== undefined && instance.renderer.thinks(request);
  const streams = Array.from({ length: ask.choices }, (_, index) =>
    answerPieces(
      {
        script,
        cap,
        seed: seedOf(promptIds, `${ask.seed}:${index}`),
        stop: ask.stop,
        keepStop: ask.keepStop,
        thinks,
      },
      instance.tokenizer,
    ),
  );
  return {
    ask,
    head: {
      id: `chatcmpl-${call.header('x-request-id') ?? instance.nextId()}`,
      created: now(),
      model: model.id,
      vllm,
      fingerprint: instance.fingerprint,
    },
    promptIds,
    cached,
    script,
    echoed: ask.echo ? lastContent(request) : '',
    streams,
    finishedIds: (ids) => cache.store([...promptIds, ...ids]),
    reasoningParser: instance.options.reasoningParser !== undefined,
  };
}

function lastContent(request: PythonDict): string {
  const messages = request.get('messages');
  const last = isList(messages) ? messages.at(-1) : undefined;
  const content = isDict(last) ? last.get('content') : undefined;
  return typeof content === 'string' ? content : '';
}

async function wholeAnswer(call: Call, job: ChatJob, run: ScriptRun): Promise<void> {
  const choices: GatheredChoice[] = job.streams.map(emptyChoice);
  let cut = false;
  for (const { index, piece } of inTurn(job.streams)) {
    cut = await run.beforeChunk();
    if (cut) break;
    const choice = choices[index];
    if (choice !== undefined) gather(choice, piece);
  }
  for (const choice of choices) {
    job.finishedIds(choice.tokenIds);
    choice.content = job.echoed + choice.content;
  }
  const ids = choices.reduce((sum, choice) => sum + choice.tokenIds.length, 0);
  const reasoning = choices.some((choice) => choice.reasoning !== '') ? ids : 0;
  const usage = wholeUsage(counts(job, ids, reasoning), job.head.vllm);
  const prompt = {
    ids: job.ask.returnTokenIds ? job.promptIds : null,
    logprobs: job.ask.echo ? [null] : null,
  };
  const body = JSON.stringify(chatCompletion(job.head, choices, usage, prompt, job.ask.returnTokenIds));
  if (cut) call.cut(body);
  else call.respond(200, body);
}

async function streamAnswer(call: Call, job: ChatJob, run: ScriptRun): Promise<void> {
  const { ask, head } = job;
  call.beginEvents();
  let written = 0;
  let reasoned = 0;
  const running = (): object | null =>
    ask.continuousUsage ? runningUsage(counts(job, written, reasoned), head.vllm) : null;
  for (const index of job.streams.keys()) {
    const ids = ask.returnTokenIds ? job.promptIds : null;
    await call.event(JSON.stringify(roleChunk(head, index, ids, running())));
  }
  const answered = job.streams.map((): number[] => []);
  for (const { index, piece } of inTurn(job.streams)) {
    if (await run.beforeChunk()) return call.cut();
    written += piece.tokenIds.length;
    if (piece.reasoning !== undefined) reasoned += piece.tokenIds.length;
    answered[index]?.push(...piece.tokenIds);
    const extras = {
      logprobs: null,
      returnTokenIds: ask.returnTokenIds,
      usage: running(),
      carriesFingerprint: !ask.includeUsage,
    };
    await call.event(JSON.stringify(pieceChunk(head, index, piece, extras)));
  }
  for (const ids of answered) job.finishedIds(ids);
  const error = run.inBandError();
  if (error !== null) await call.event(JSON.stringify(error));
  else if (ask.includeUsage) {
    await call.event(JSON.stringify(usageChunk(head, finalUsage(counts(job, written, reasoned), head.vllm))));
  }
  await call.event('[DONE]');
  call.end();
}

function counts(job: ChatJob, completion: number, reasoning: number): TokenCounts {
  return {
    prompt: job.promptIds.length,
    completion,
    cached: job.cached,
    reasoning: job.reasoningParser ? reasoning : null,
  };
}

/** The pieces of all choices, one of each in turn. */
function* inTurn(
  streams: readonly Iterator<AnswerPiece>[],
): Generator<{ readonly index: number; readonly piece: AnswerPiece }> {
  const open = new Set(streams.keys());
  while (open.size > 0) {
    for (const index of [...open]) {
      const next = streams[index]?.next();
      if (next === undefined || next.done === true) open.delete(index);
      else yield { index, piece: next.value };
    }
  }
}
