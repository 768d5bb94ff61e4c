import type { AnswerPiece } from './answer.js';
import { AnswerSize } from './answer-size.js';
import type { Call } from './call.js';
import { type ChatJob, keepAnswer } from './chat-job.js';
import { emptyChoice, type GatheredChoice, gather } from './chat-shape.js';
import type { ScriptRun } from './script-run.js';

/** Answers of endpoints that know no `n`: the first stream of a job is the only one. */

/** Gathers the answer. `cut`: the connection is to break in its middle. */
export async function wholeChoice(
  call: Call,
  job: ChatJob,
  run: ScriptRun,
): Promise<{ readonly choice: GatheredChoice; readonly cut: boolean }> {
  const choice = emptyChoice();
  const size = new AnswerSize(0);
  let cut = false;
  for (const piece of piecesOf(job)) {
    cut = await run.beforeChunk();
    if (cut) break;
    size.add(piece.tokenIds.length);
    job.instance.meters.countPiece(piece);
    gather(choice, piece);
  }
  cut ||= await run.breaksHere();
  await call.pause(0);
  keepAnswer(job, choice.tokenIds);
  return { choice, cut };
}

/** What of an answer was streamed. */
export interface Streamed {
  readonly written: number;
  readonly reasoned: number;
  readonly finish: { readonly reason: string; readonly stop: string | number | null };
}

/** Hands on piece by piece; `null` after the connection broke. */
export async function streamedChoice(
  call: Call,
  job: ChatJob,
  run: ScriptRun,
  write: (piece: AnswerPiece) => Promise<void>,
): Promise<Streamed | null> {
  const answered: number[] = [];
  const kept = new AnswerSize(0);
  let written = 0;
  let reasoned = 0;
  let finish: Streamed['finish'] = { reason: 'stop', stop: null };
  for (const piece of piecesOf(job)) {
    if (await run.beforeChunk()) return await broken(call);
    job.instance.meters.countPiece(piece);
    written += piece.tokenIds.length;
    if (piece.reasoning !== undefined) reasoned += piece.tokenIds.length;
    kept.count(piece.tokenIds.length);
    if (!kept.isFull) answered.push(...piece.tokenIds);
    finish = piece.finish ?? finish;
    await write(piece);
  }
  if (await run.breaksHere()) return await broken(call);
  await call.pause(0);
  keepAnswer(job, answered);
  return { written, reasoned, finish };
}

async function broken(call: Call): Promise<null> {
  await call.cut();
  return null;
}

function* piecesOf({ streams }: ChatJob): Generator<AnswerPiece> {
  const [stream] = streams;
  for (let next = stream?.next(); next !== undefined && next.done !== true; next = stream?.next())
    yield next.value;
}
