import { isDeepStrictEqual } from 'node:util';
import { BOOKKEEPING, type Message } from '../conversation/message.js';
import { roughTokens } from '../engines/inert-services.js';
import { isMessageList, lastUser, sequenceFault } from './sequence.js';
import { TRANSCRIPTS, type Transcript } from './transcripts.js';
import { type EngineCheck, expect, isHonestFailure, type Outcome, type Trial, within } from './trial.js';

const LONG = TRANSCRIPTS.filter(({ what }) => what.startsWith('a long conversation'));
const ONE_LONG_TURN = 'one long turn';
const ABORT_AFTER_MS = 50;
const LATEST_AFTER_ABORT_MS = 2000;

/** What `compress` promises. */
export function compressChecks(trial: Trial): EngineCheck[] {
  const everywhere =
    (check: (result: Message[], input: readonly Message[], what: string) => void) => async () => {
      for (const transcript of TRANSCRIPTS) {
        const outcome = await trial.pass(transcript);
        const result = resultOf(outcome);
        if (isMessageList(result)) check(result, outcome.input, transcript.what);
      }
    };
  return [
    { name: 'compress gives a list of messages with roles', run: () => givesMessages(trial) },
    { name: 'compress gives a valid sequence', run: everywhere(isValid) },
    { name: 'compress keeps the last user message and what follows it', run: everywhere(keepsLastTurn) },
    {
      name: 'compress gives uids of 32 hex digits, and marks that are JSON',
      run: everywhere(hasBookkeeping),
    },
    { name: 'compress makes a long conversation smaller', run: () => shrinks(trial) },
    { name: 'compress copes with a model that gives no text', run: () => copesWithoutModel(trial) },
    { name: 'compress ends when the pass is aborted', run: () => endsWhenAborted(trial) },
  ];
}

function resultOf(outcome: Outcome): unknown {
  return 'result' in outcome ? outcome.result : undefined;
}

async function givesMessages(trial: Trial): Promise<void> {
  for (const transcript of TRANSCRIPTS) {
    const outcome = await trial.pass(transcript);
    if ('error' in outcome) {
      expect(
        isHonestFailure(outcome.error),
        `compress of ${transcript.what} throws ${told(outcome.error)}: throw an IrreducibleError where nothing can go`,
      );
      continue;
    }
    expect(
      isMessageList(outcome.result) && outcome.result.length > 0,
      `compress of ${transcript.what} must give a list of messages, each with a role, and at least one`,
    );
  }
}

function isValid(result: Message[], _input: readonly Message[], what: string): void {
  const fault = sequenceFault(result);
  expect(
    fault === undefined,
    `compress of ${what} gives an invalid sequence: ${fault}. Keep calls and results together`,
  );
}

function keepsLastTurn(result: Message[], input: readonly Message[], what: string): void {
  const last = lastUser(input) as Message;
  const kept = result.findLastIndex((message) => isSame(message, last));
  expect(kept >= 0, `compress of ${what} loses or changes the last user message: keep it as it is`);
  if (what === ONE_LONG_TURN) return;
  const after = input.slice(input.indexOf(last) + 1);
  const isKept =
    result.length - kept - 1 === after.length &&
    after.every((each, index) => isSame(each, result[kept + 1 + index]));
  expect(isKept, `compress of ${what} changes what follows the last user message: keep it as it is`);
}

function isSame(one: Message, other: Message | undefined): boolean {
  return other !== undefined && isDeepStrictEqual(sent(one), sent(other));
}

/** As it would go upstream. */
function sent(message: Message): object {
  return Object.fromEntries(Object.entries(message).filter(([key]) => !BOOKKEEPING.has(key)));
}

function hasBookkeeping(result: Message[], _input: readonly Message[], what: string): void {
  for (const [index, message] of result.entries()) {
    const { message_uid: own, _absorbed_message_uids: absorbed = [], _engine_mark: mark } = message;
    const uids: unknown[] = [...(own === undefined ? [] : [own]), ...absorbed];
    const where = `message ${index} that compress of ${what} gives`;
    expect(
      uids.every(isUid),
      `${where} has a uid that is not 32 lower-case hex digits: leave it out, and the host mints one`,
    );
    expect(mark === undefined || isJson(mark), `${where} has an _engine_mark that is no JSON: it is stored`);
  }
}

function isUid(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{32}$/.test(value);
}

function isJson(value: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value);
  } catch {
    return false;
  }
}

async function shrinks(trial: Trial): Promise<void> {
  for (const transcript of LONG) {
    const outcome = await trial.pass(transcript);
    const isGivenUp = 'error' in outcome && isHonestFailure(outcome.error);
    expect(!isGivenUp, `compress gives ${transcript.what} up, though a model answers: shorten it`);
    const result = resultOf(outcome);
    if (!isMessageList(result)) continue;
    expect(
      roughTokens(result) < roughTokens(outcome.input),
      `compress of ${transcript.what} must give fewer tokens than it was given, or the pass is thrown away`,
    );
  }
}

async function copesWithoutModel(trial: Trial): Promise<void> {
  for (const transcript of LONG) {
    if (isUnexpected(await trial.pass(transcript))) continue;
    for (const script of ['empty', 'throwing'] as const) {
      const outcome = await trial.pass(transcript, script);
      const error = 'error' in outcome ? told(outcome.error) : '';
      expect(
        !isUnexpected(outcome),
        `compress throws ${error} where complete() fails: do without it, or pass the CompletionError on`,
      );
    }
  }
}

function isUnexpected(outcome: Outcome): boolean {
  return 'error' in outcome && !isHonestFailure(outcome.error);
}

async function endsWhenAborted(trial: Trial): Promise<void> {
  const controller = new AbortController();
  const running = trial.pass(LONG[0] as Transcript, 'hanging', controller.signal);
  await new Promise((resolve) => setTimeout(resolve, ABORT_AFTER_MS));
  controller.abort();
  const advice = 'after an abort of options.signal, compress';
  await within(advice, () => running, LATEST_AFTER_ABORT_MS);
}

function told(error: unknown): string {
  return error instanceof Error ? `${error.name} (${error.message})` : String(error);
}
