import { expect } from 'vitest';
import { headLength, type Message } from '../../../../src/conversation/message.js';
import { bordersOf, lastGroupStart } from '../../../../src/engines/compressor/borders.js';
import { type Built, roughly } from './build.js';
import { OUTAGES, type SummariserName } from './summarisers.js';
import { violationsOf, worseKinds } from './violations.js';

export interface Outcome {
  readonly result: Message[] | undefined;
  readonly error: unknown;
}

export async function run(
  built: Built,
  messages: Message[],
  targetTokens: number,
  force = false,
): Promise<Outcome> {
  const currentTokens = roughly(messages);
  try {
    return {
      result: await built.engine.compress(messages, { currentTokens, targetTokens, force }),
      error: undefined,
    };
  } catch (error) {
    return { result: undefined, error };
  }
}

/** Sound, or ended by an outage, which only a call of the model can meet. */
export function expectKept(
  input: readonly Message[],
  outcome: Outcome,
  targetTokens: number,
  built: Built,
  name: SummariserName,
): void {
  const failure = OUTAGES[name];
  if (failure === undefined || built.calls.length === 0) {
    expectSound(input, outcome, targetTokens);
    return;
  }
  expect(outcome.result).toBeUndefined();
  expect(outcome.error).toMatchObject({ name: 'CompletionError', failure });
  expect(built.calls).toHaveLength(1);
}

/** Everything a host relies on, whatever went in and whatever the model said. */
export function expectSound(
  input: readonly Message[],
  { result, error }: Outcome,
  targetTokens: number,
): void {
  if (result === undefined) {
    expect((error as Error).name).toBe('IrreducibleError');
    return;
  }
  expect(worseKinds(violationsOf(input), violationsOf(result))).toEqual([]);
  expect(roughly(result)).toBeLessThan(roughly(input));
  const head = headLength(input);
  expect(result.slice(0, head)).toEqual(input.slice(0, head));
  expectLastTurn(input, result, targetTokens);
  const size = roughly(result);
  if (size > targetTokens) expect(size).toBeLessThanOrEqual(leastPossible(input, targetTokens));
}

function expectLastTurn(input: readonly Message[], result: readonly Message[], targetTokens: number): void {
  const last = lastRequest(input);
  if (last < 0) return;
  const at = result.findLastIndex(({ role }) => role === 'user');
  expect(result[at]).toEqual(input[last]);
  const turn = input.slice(last);
  if (!isTurnTooBig(input, last, targetTokens)) expect(result.slice(at)).toEqual(turn);
  else if (result.at(-1)?.role !== 'tool') expect(result.at(-1)).toEqual(input.at(-1));
}

/** Only a turn that does not fit half the target may be shortened. */
function isTurnTooBig(input: readonly Message[], last: number, targetTokens: number): boolean {
  const kept = [...input.slice(0, headLength(input)), ...input.slice(Math.max(0, last))];
  return last < headLength(input) || roughly(kept) > targetTokens / 2;
}

/** The last message of a user: one with a mark is the engine's own. */
function lastRequest(messages: readonly Message[]): number {
  return messages.findLastIndex(({ role, _engine_mark: mark }) => role === 'user' && mark === undefined);
}

/** Head, last request and newest group, which the model has not answered yet, and what is kept of the rest at least. */
function leastPossible(input: readonly Message[], targetTokens: number): number {
  const head = headLength(input);
  const body = input.slice(head);
  const borders = bordersOf(body);
  const last = lastRequest(body);
  const newest = lastGroupStart(borders);
  // A result behind the last request belongs to a call before it: then all between stays together.
  const isWhole = last >= 0 && borders[last] !== true;
  const floor = isWhole
    ? borders.lastIndexOf(true, last)
    : isTurnTooBig(input, head + last, targetTokens)
      ? Math.max(newest, last)
      : last;
  const request = last >= 0 && floor > last ? [body[last] as Message] : [];
  const kept = [...input.slice(0, head), ...request, ...body.slice(floor)];
  return roughly(kept) + Math.max(300, targetTokens * 0.36 + 60);
}
