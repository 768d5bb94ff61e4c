import type { Message } from '../message.js';
import { type Caps, factsOf, stepLines } from './digest.js';
import { cut, cutAtBorder } from './excerpt.js';
import { addedTo, addToLedger, EMPTY_LEDGER, mergeLedgers, touchLedger } from './ledger.js';
import { boundLedger, type CountText, ledgerText } from './ledger-text.js';
import type { SummaryState } from './mark.js';
import { textOf } from './message-text.js';
import type { Room } from './room.js';
import { baseText, summaryContent, updateOf } from './summary-message.js';
import { newestLines } from './transcript.js';

export const NO_STATE: SummaryState = {
  summary: '',
  request: '',
  updates: [],
  base: '',
  ledger: EMPTY_LEDGER,
};

/** Shares of the summary message, where it is small: names and numbers have the rest. */
const MOST_TEXT = 0.55;
const MOST_SUMMARY = 0.3;
const MOST_REQUEST = 0.2;

/** A merge leaves room for what the next passes add, so that not each of them has to merge. */
const MERGED_SHARE = 0.88;

/** What a line says of a message of each kind. */
const LINE: Caps = { user: 70, assistant: 35, result: 20 };

export interface StateOrder {
  readonly prior: SummaryState;
  /** What goes into the summary in this pass. */
  readonly middle: readonly Message[];
  /** What stays behind it. */
  readonly tail: readonly Message[];
  readonly room: Room;
  /** What the summary message may take. */
  readonly space: number;
  readonly count: CountText;
}

/**
 * What goes as lines of the engine's own below the earlier summary; `undefined` where there are too many of them. While
 * all facts find room everything before the new lines stays byte for byte; else the ledger is merged into one again.
 */
export function appendedState(order: StateOrder): SummaryState | undefined {
  const { prior, middle, tail, room, space, count } = order;
  const lines = stepLines(middle, LINE, count);
  if (count([stepsOf(prior), ...lines].join('\n')) > room.digestTokens) return undefined;
  const known = touchLedger(prior.ledger, textsOf(tail));
  const grown = addToLedger(known, factsOf(middle));
  const newest = requestOf(middle, room.requestTokens, count);
  const request = newest || prior.request;
  const update = updateOf(
    lines,
    lines.some((line) => line.includes(newest)) ? '' : newest,
    addedTo(known, grown),
  );
  const state = { ...prior, request, updates: [...prior.updates, update], ledger: grown };
  const others = count([prior.summary, stepsOf(state), update.request].join('\n'));
  if (others > space * MOST_TEXT) return undefined;
  const most = ledgerRoom(room, space, others);
  if (count(ledgerText(grown)) <= most && count(summaryContent(state)) <= space) return state;
  return mergedState({ ...state, ledger: boundLedger(grown, Math.floor(most * MERGED_SHARE), count) });
}

/** The same with all facts in one list again, as the base of what comes. */
function mergedState(state: SummaryState): SummaryState {
  const { summary, updates, ledger } = state;
  const request = updates.findLast((update) => update.request !== '')?.request ?? '';
  const told = updates.length === 0 ? [] : [{ steps: stepsOf(state), request, facts: '' }];
  return { ...state, base: baseText(summary, '', ledger), updates: told };
}

/** A summary written anew over everything so far, and the ledger merged. */
export function rewrittenState(order: StateOrder, summary: string): SummaryState {
  const { prior, middle, tail, room, space, count } = order;
  const grown = addToLedger(touchLedger(prior.ledger, `${textsOf(tail)}\n${summary}`), factsOf(middle));
  const requestTokens = Math.min(room.requestTokens, Math.floor(space * MOST_REQUEST));
  const request = requestOf(middle, requestTokens, count) || cut(prior.request, requestTokens, count);
  const text = cutAtBorder(summary, Math.min(room.summaryTokens, Math.floor(space * MOST_SUMMARY)), count);
  const ledger = boundLedger(grown, ledgerRoom(room, space, count(`${text}\n${request}`)), count);
  return { summary: text, request, updates: [], base: baseText(text, request, ledger), ledger };
}

/** Messages that had to go as well after the summary was written. */
export function withAlsoGone(state: SummaryState, order: StateOrder): SummaryState {
  const { middle, room, count } = order;
  if (middle.length === 0) return state;
  const lines = newestLines(
    stepLines(middle, LINE, count).join('\n'),
    Math.floor(room.digestTokens / 2),
    count,
  );
  const grown = addToLedger(state.ledger, factsOf(middle));
  const added = boundLedger(addedTo(state.ledger, grown), Math.floor(room.ledgerTokens / 2), count);
  return {
    ...state,
    request: requestOf(middle, room.requestTokens, count) || state.request,
    updates: [...state.updates, updateOf(lines.split('\n').filter(Boolean), '', added)],
    ledger: mergeLedgers({ ...state.ledger, steps: grown.steps }, added),
  };
}

/** What was told in lines since the summary was written. */
export function stepsOf({ updates }: SummaryState): string {
  return updates.map(({ steps }) => steps).join('\n');
}

/** Names and numbers may take what the texts leave of their own room, but no more than there is. */
function ledgerRoom(
  { summaryTokens, ledgerTokens, digestTokens }: Room,
  space: number,
  others: number,
): number {
  const wanted = Math.max(ledgerTokens, summaryTokens + ledgerTokens + digestTokens - others);
  return Math.max(0, Math.min(wanted, space - others));
}

/** The newest request among messages that go, word for word from its beginning. */
function requestOf(middle: readonly Message[], mostTokens: number, count: CountText): string {
  const newest = middle.findLast(({ role }) => role === 'user');
  return newest === undefined ? '' : cut(textOf(newest.content).trim(), mostTokens, count);
}

function textsOf(messages: readonly Message[]): string {
  return messages
    .map(({ content, tool_calls }) => `${textOf(content)}\n${JSON.stringify(tool_calls) ?? ''}`)
    .join('\n');
}
