import { createHash } from 'node:crypto';
import type { Script, ScriptedCall } from './script.js';
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
  readonly finish?: { readonly reason: string; readonly stop: string | null };
}

export interface AnswerPlan {
  readonly script: Script;
  /** Most tokens of the answer. */
  readonly cap: number;
  readonly seed: number;
  readonly stop: readonly string[];
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
  const { script } = plan;
  const scripted =
    script.text !== undefined || script.tool_calls !== undefined || script.reasoning !== undefined;
  const source = scripted ? scriptedPieces(script, tokenizer, plan) : madeUpPieces(plan, tokenizer);
  yield* finished(stopped(source, plan), plan);
}

/** A number from what the answer depends on. */
export function seedOf(promptIds: readonly number[], salt: string): number {
  const hash = createHash('sha256').update(Int32Array.from(promptIds)).update(salt).digest();
  return hash.readUInt32LE(0);
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

function* scriptedPieces(script: Script, tokenizer: QwenTokenizer, plan: AnswerPlan): Generator<AnswerPiece> {
  if (script.reasoning !== undefined) {
    yield { tokenIds: tokenizer.encode('<think>'), reasoning: '' };
    for (const part of decodedParts(script.reasoning, tokenizer)) {
      yield { tokenIds: part.tokenIds, reasoning: part.text };
    }
    yield { tokenIds: tokenizer.encode('</think>'), reasoning: '' };
  }
  yield* decodedParts(script.text ?? '', tokenizer);
  const calls = (script.tool_calls ?? []).flatMap((call, index) => [
    ...callPieces(call, index, tokenizer, plan),
  ]);
  const length = calls.reduce((sum, piece) => sum + piece.tokenIds.length, 0);
  if (plan.showsCutCalls || length < plan.cap) yield* calls;
  else yield* decodedParts(tokenizer.decode(calls.flatMap((piece) => piece.tokenIds)), tokenizer);
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

interface Stopped {
  readonly piece: AnswerPiece;
  readonly stop: string | null;
}

/** Ends a text at the first of its stop strings, which is left out unless it is to be kept. */
function* stopped(pieces: Iterable<AnswerPiece>, plan: AnswerPlan): Generator<Stopped> {
  const longest = Math.max(0, ...plan.stop.map((word) => word.length));
  let tail = '';
  for (const piece of pieces) {
    const text = piece.text ?? '';
    const window = tail + text;
    const hit = plan.stop.find((word) => word !== '' && window.includes(word));
    if (hit === undefined) {
      tail = longest > 1 ? window.slice(-(longest - 1)) : '';
      yield { piece, stop: null };
      continue;
    }
    const end = window.indexOf(hit) + (plan.keepStop ? hit.length : 0);
    yield { piece: { ...piece, text: window.slice(tail.length, Math.max(end, tail.length)) }, stop: hit };
    return;
  }
}

/** Cuts at the cap and tells the reason with the last piece. */
function* finished(pieces: Iterable<Stopped>, plan: AnswerPlan): Generator<AnswerPiece> {
  const { script } = plan;
  let left = plan.cap;
  let previous: AnswerPiece | undefined;
  for (const { piece, stop } of pieces) {
    if (previous !== undefined) yield previous;
    previous = piece;
    left -= piece.tokenIds.length;
    if (stop !== null) {
      yield { ...piece, finish: { reason: script.finish_reason ?? 'stop', stop } };
      return;
    }
    if (left > 0) continue;
    const tokenIds = piece.tokenIds.slice(0, piece.tokenIds.length + left);
    yield { ...piece, tokenIds, finish: { reason: script.finish_reason ?? 'length', stop: null } };
    return;
  }
  const natural = script.tool_calls === undefined ? 'stop' : plan.callFinish;
  const last = previous ?? { tokenIds: [], text: '' };
  yield { ...last, finish: { reason: script.finish_reason ?? natural, stop: null } };
}
