import type { Message } from '../message.js';
import { type Caps, digestLines, factsOf } from './digest.js';
import { cut, cutAtBorder } from './excerpt.js';
import { addedTo, addToLedger, EMPTY_LEDGER, mergeLedgers, touchLedger } from './ledger.js';
import { boundLedger, type CountText } from './ledger-text.js';
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

/** What a line says of a message of each kind. */
const LINE: Caps = { user: 80, assistant: 45, result: 20 };

export interface StateOrder {
  readonly prior: SummaryState;
  /** What goes into the summary in this pass. */
  readonly middle: readonly Message[];
  /** What stays behind it. */
  readonly tail: readonly Message[];
  readonly room: Room;
  readonly count: CountText;
}

/** The earlier summary as it stands, and below it one more update; `undefined` where that would be too long. */
export function appendedState({ prior, middle, tail, room, count }: StateOrder): SummaryState | undefined {
  const lines = digestLines(middle, LINE, count);
  const pending = count(stepsOf(prior));
  if (pending + count(lines.join('\n')) > room.digestTokens) return undefined;
  const known = touchLedger(prior.ledger, textsOf(tail));
  const grown = addToLedger(known, factsOf(middle));
  const all = room.summaryTokens + room.ledgerTokens + room.digestTokens;
  const request = requestOf(middle, room.requestTokens, count);
  const isInLine = request !== '' && lines.some((line) => line.includes(request));
  const left = all - count([summaryContent(prior), ...lines, request].join('\n'));
  const added = addedTo(prior.ledger, grown);
  const bounded = boundLedger(added, Math.min(left, room.ledgerTokens), count);
  if (bounded.entries.length < added.entries.length && prior.base !== '') return undefined;
  return {
    ...prior,
    request: request === '' ? prior.request : request,
    updates: [...prior.updates, updateOf(lines, isInLine ? '' : request, bounded)],
    ledger: mergeLedgers({ ...known, steps: grown.steps }, bounded),
  };
}

/** A summary written anew over everything so far, and the ledger merged. */
export function rewrittenState(
  { prior, middle, tail, room, count }: StateOrder,
  summary: string,
): SummaryState {
  const grown = addToLedger(touchLedger(prior.ledger, `${textsOf(tail)}\n${summary}`), factsOf(middle));
  const ledger = boundLedger(grown, room.ledgerTokens, count);
  const request =
    requestOf(middle, room.requestTokens, count) || cut(prior.request, room.requestTokens, count);
  const text = cutAtBorder(summary, room.summaryTokens, count);
  return { summary: text, request, updates: [], base: baseText(text, request, ledger), ledger };
}

/** Messages that had to go as well after the summary was written. */
export function withAlsoGone(state: SummaryState, order: StateOrder): SummaryState {
  const { middle, room, count } = order;
  if (middle.length === 0) return state;
  const lines = newestLines(
    digestLines(middle, LINE, count).join('\n'),
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
