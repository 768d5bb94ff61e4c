import { createHash } from 'node:crypto';
import type { Script, ScriptedCall } from './script-schema.js';
import type { QwenTokenizer } from './tokenizer.js';

export interface CallPiece {
  readonly index: number;
  /** With the first piece of a call. */
  readonly id?: string;
  readonly name?: string;
  readonly arguments: string;
}

/** A piece of an answer as one step of decoding brings it. */
export interface AnswerPiece {
  readonly tokenIds: readonly number[];
  readonly text?: string;
  readonly reasoning?: string;
  readonly call?: CallPiece;
  /** With the last piece. */
  readonly finish?: { readonly reason: string; readonly stop: string | number | null };
}

export interface AnswerPlan {
  readonly script: Script;
  /** Most tokens of the answer. */
  readonly cap: number;
  readonly seed: number;
  readonly stop: readonly string[];
  /** Tokens that end the answer, and are not shown. */
  readonly stopIds: readonly number[];
  readonly keepStop: boolean;
  /** Made-up text is thought, not said: a reasoning parser waits for an end that never comes. */
  readonly thinks: boolean;
  /** A call that the cap cuts off is shown as a call; else its raw text is content. */
  readonly showsCutCalls: boolean;
  /** How an answer that ends with tool calls finishes. */
  readonly callFinish: 'tool_calls' | 'stop';
}

/** The pieces of one answer, one at a time; deterministic. */
export function* answerPieces(plan: AnswerPlan, tokenizer: QwenTokenizer): Generator<AnswerPiece> {
  yield* stopped(finished(allPieces(plan, tokenizer), plan), plan);
}

/** A number from what the answer depends on. */
export function seedOf(promptIds: readonly number[], salt: string): number {
  return seedsOf(promptIds)(salt);
}

/** The same for many salts: what depends on the prompt is computed once. */
export function seedsOf(promptIds: readonly number[]): (salt: string) => number {
  const hash = createHash('sha256').update(Int32Array.from(promptIds));
  return (salt) => hash.copy().update(salt).digest().readUInt32LE(0);
}

function* madeUpPieces(plan: AnswerPlan, tokenizer: QwenTokenizer): Generator<AnswerPiece> {
  let state = plan.seed;
  const length = plan.script.tokens ?? Infinity;
  for (let written = 0; written < length; written += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const word = tokenizer.words[(state >>> 8) % tokenizer.words.length];
    if (word === undefined) return;
    yield plan.thinks
      ? { tokenIds: [word.id], reasoning: word.text }
      : { tokenIds: [word.id], text: word.text };
  }
}

function* allPieces(plan: AnswerPlan, tokenizer: QwenTokenizer): Generator<AnswerPiece> {
  const { script } = plan;
  if (script.reasoning !== undefined) yield* thoughtPieces(script.reasoning, tokenizer);
  if (script.text !== undefined) yield* decodedParts(script.text, tokenizer);
  const saysMore = script.text ?? script.reasoning ?? script.tool_calls;
  if (script.tokens !== undefined || saysMore === undefined) yield* madeUpPieces(plan, tokenizer);
  const calls = (script.tool_calls ?? []).flatMap((call, index) => [
    ...callPieces(call, index, tokenizer, plan),
  ]);
  const length = calls.reduce((sum, piece) => sum + piece.tokenIds.length, 0);
  if (plan.showsCutCalls || length < plan.cap) yield* calls;
  else yield* decodedParts(tokenizer.decode(calls.flatMap((piece) => piece.tokenIds)), tokenizer);
}

/** The marks around a thought count with its first and last token: they are never shown. */
function* thoughtPieces(reasoning: string, tokenizer: QwenTokenizer): Generator<AnswerPiece> {
  const parts = [...decodedParts(reasoning, tokenizer)];
  for (const [at, part] of parts.entries()) {
    const opening = at === 0 ? tokenizer.encode('<think>') : [];
    const closing = at === parts.length - 1 ? tokenizer.encode('</think>') : [];
    yield { tokenIds: [...opening, ...part.tokenIds, ...closing], reasoning: part.text };
  }
}

function* callPieces(
  call: ScriptedCall,
  index: number,
  tokenizer: QwenTokenizer,
  plan: AnswerPlan,
): Generator<AnswerPiece> {
  const id =
    call.id ?? `chatcmpl-tool-${seedOf([plan.seed, index], call.name).toString(16).padStart(16, 'a')}`;
  const opening = `<tool_call>\n{"name": "${call.name}", "arguments": `;
  yield { tokenIds: tokenizer.encode(opening), call: { index, id, name: call.name, arguments: '' } };
  const given = call.arguments ?? {};
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  for (const part of decodedParts(text, tokenizer)) {
    yield { tokenIds: part.tokenIds, call: { index, arguments: part.text } };
  }
  yield { tokenIds: tokenizer.encode('}\n</tool_call>'), text: '' };
}

/** Text token by token; bytes of a character that is spread over tokens come out together. */
function* decodedParts(
  text: string,
  tokenizer: QwenTokenizer,
): Generator<{ tokenIds: readonly number[]; text: string }> {
  let held: number[] = [];
  for (const id of tokenizer.encode(text)) {
    held.push(id);
    const decoded = tokenizer.decode(held);
    if (decoded.endsWith('\uFFFD') && held.length < 4) continue;
    yield { tokenIds: held, text: decoded };
    held = [];
  }
  if (held.length > 0) yield { tokenIds: held, text: tokenizer.decode(held) };
}

/** Cuts at the cap and tells the reason with the last piece. */
function* finished(pieces: Iterable<AnswerPiece>, plan: AnswerPlan): Generator<AnswerPiece> {
  const { script } = plan;
  let left = plan.cap;
  let previous: AnswerPiece | undefined;
  for (const piece of pieces) {
    if (previous !== undefined) yield previous;
    const stop = piece.tokenIds.find((id) => plan.stopIds.includes(id));
    if (stop !== undefined) {
      yield { tokenIds: piece.tokenIds, text: '', finish: { reason: script.finish_reason ?? 'stop', stop } };
      return;
    }
    previous = piece;
    left -= piece.tokenIds.length;
    if (left > 0) continue;
    const tokenIds = piece.tokenIds.slice(0, piece.tokenIds.length + left);
    yield { ...piece, tokenIds, finish: { reason: script.finish_reason ?? 'length', stop: null } };
    return;
  }
  const natural = script.tool_calls === undefined ? 'stop' : plan.callFinish;
  const last = previous ?? { tokenIds: [], text: '' };
  yield { ...last, finish: { reason: script.finish_reason ?? natural, stop: null } };
}

/**
 * Ends a text at the first of its stop strings, which is left out unless it is to be kept. What may be
 * the start of a stop string is held back.
 */
function* stopped(pieces: Iterable<AnswerPiece>, plan: AnswerPlan): Generator<AnswerPiece> {
  const words = plan.stop.filter((word) => word !== '');
  const hold = Math.max(0, ...words.map((word) => word.length - 1));
  let held = '';
  for (const piece of pieces) {
    const window = held + (piece.text ?? '');
    const hit = firstHit(window, words);
    if (hit !== undefined) {
      const text = window.slice(0, hit.at + (plan.keepStop ? hit.word.length : 0));
      yield { ...piece, text, finish: { reason: plan.script.finish_reason ?? 'stop', stop: hit.word } };
      return;
    }
    const shown = piece.finish === undefined ? Math.max(0, window.length - hold) : window.length;
    held = window.slice(shown);
    yield piece.text === undefined && shown === 0 ? piece : { ...piece, text: window.slice(0, shown) };
  }
}

function firstHit(text: string, words: readonly string[]): { word: string; at: number } | undefined {
  const hits = words.map((word) => ({ word, at: text.indexOf(word) })).filter(({ at }) => at >= 0);
  return hits.sort((one, other) => one.at - other.at)[0];
}
