import type { Message } from '../../conversation/message.js';
import { type Caps, factsOf, nameOf, stepLines } from './digest.js';
import { cut, cutAtBorder } from './excerpt.js';
import { addToLedger, EMPTY_LEDGER, type Ledger, namedSince, touchLedger } from './ledger.js';
import { type CountText, ledgerText } from './ledger-text.js';
import type { SummaryState, Update } from './mark.js';
import { oneLine, textOf } from './message-text.js';
import type { Room } from './room.js';
import { remembered, saidShare, shownLedger } from './shown-ledger.js';
import { goingIn, isEmpty, type StateOrder } from './state-order.js';
import { baseText, listedFacts, shownRequest, summaryContent } from './summary-message.js';
import { newestLines } from './transcript.js';

export const NO_STATE: SummaryState = {
  summary: '',
  request: '',
  updates: [],
  base: '',
  ledger: EMPTY_LEDGER,
};

/** Shares of the summary message, where it is small: names and numbers have the rest. */
const MOST_SUMMARY = 0.5;
/** A longer request takes what is left below the target. */
const REQUEST_PART = 0.12;
/** What is written anew leaves room for what the next passes add below it; names and numbers may take more of it. */
const BASE_SHARE = 0.6;
const BASE_SHARE_WITH_FACTS = 0.9;
/** How far lines may go over the room for them: to write all anew costs more. */
const OVER = {
  usual: { digest: 1, space: 1.08 },
  /** Where the next pass comes soon, or nobody is there to write. */
  more: { digest: 1.25, space: 1.25 },
  any: { digest: Number.POSITIVE_INFINITY, space: Number.POSITIVE_INFINITY },
} as const;
export type Slack = keyof typeof OVER;

/** What one pass may add in lines, and in names and numbers, of the room of each. */
const ADDED_LINES = 0.22;
const ADDED_FACTS = 0.5;
/** What it adds of them more often than not. */
const EXPECTED_FACTS = 0.15;
/** What was asked last may take of the room for lines beside them. */
const MOST_REQUEST_LINE = 0.5;
/** Where less of what was said in a pass finds room, older facts have to go: only what is written anew drops any. */
const LEAST_SAID = 0.5;

const LEAST_LINES: Caps = { user: 16, assistant: 8, result: 8 };
/** What a line says of a message of each kind, at most and at least. */
const LINES: readonly Caps[] = [
  { user: 50, assistant: 24, result: 20 },
  { user: 36, assistant: 16, result: 14 },
  { user: 24, assistant: 10, result: 10 },
  LEAST_LINES,
];

/**
 * What goes as lines of the engine's own below the earlier summary; `undefined` where there are too many of them.
 * Everything before the new lines stays byte for byte.
 */
export async function appendedState(
  order: StateOrder,
  slack: Slack = 'usual',
): Promise<SummaryState | undefined> {
  const { prior, middle, tail, room, space, count } = order;
  const over = OVER[slack];
  // Lines are for what came since a summary: a first one is written by the model, unless there is little to tell.
  if (prior.summary === '' && isLonger(textsOf(middle), room.digestTokens, count)) return undefined;
  const ledger = touchLedger(prior.ledger, textsOf(tail));
  const told = await toldInLines({ ...prior, ledger }, order, linesRoom(room));
  const steps = [stepsOf(prior), ...told.updates.map(({ steps }) => steps)].join('\n');
  if (count(steps) > room.digestTokens * over.digest) return undefined;
  if (slack !== 'any' && told.isListFull && told.saidShare < LEAST_SAID) return undefined;
  const state = {
    ...prior,
    request: requestOf(middle, room.requestTokens, count) || prior.request,
    updates: [...prior.updates, ...told.updates],
    ledger: remembered(told.ledger),
  };
  const usual = spaceFor(prior, room, count);
  const most = slack === 'usual' ? Math.min(space, usual) : usual;
  return count(summaryContent(state)) <= most * over.space ? state : undefined;
}

interface Told {
  readonly updates: readonly Update[];
  readonly ledger: Ledger;
  /** How much of what people said the new lists have. */
  readonly saidShare: number;
  readonly isListFull: boolean;
}

/** What goes, as lines with what they name: of what came since, and of what stood before all that is told. */
async function toldInLines(prior: SummaryState, order: StateOrder, mostLines: number): Promise<Told> {
  const { early, middle, room, count } = order;
  const mostFacts = Math.floor(room.ledgerTokens * ADDED_FACTS);
  const left = Math.max(0, room.ledgerTokens - count(listedFacts(prior)));
  let { ledger } = prior;
  let shown = summaryContent(prior);
  let facts = Math.min(left, mostFacts);
  let least = 1;
  const updates: Update[] = [];
  for (const [place, messages] of [
    ['before', early],
    ['behind', middle],
  ] as const) {
    if (messages.length === 0) continue;
    const steps = await fittedLines(messages, place === 'before' ? mostLines / 2 : mostLines, count);
    const grown = addToLedger(ledger, factsOf(messages));
    const added = namedSince(grown, ledger.steps, `${shown}\n${steps}`);
    const listed = shownLedger(added, '', place === 'before' ? facts / 2 : facts, count);
    least = Math.min(least, saidShare(added, listed));
    const update = { place, steps, facts: ledgerText(listed) };
    shown += `\n${steps}\n${update.facts}`;
    facts -= count(update.facts);
    ledger = grown;
    // What stood before is told last: all above it stays as it is, and the next lines come behind.
    if (steps !== '' || update.facts !== '') updates.unshift(update);
  }
  return { updates, ledger, saidShare: least, isListFull: left < mostFacts };
}

/** Whether the next pass may find no room for its lines, so that the model has to be asked. */
export function isNearlyFull(prior: SummaryState, room: Room, count: CountText): boolean {
  const lines = linesRoom(room);
  const added = lines + Math.floor(room.ledgerTokens * EXPECTED_FACTS);
  return (
    prior.summary === '' ||
    count(stepsOf(prior)) + lines > room.digestTokens ||
    count(summaryContent(prior)) + added > spaceFor(prior, room, count) * OVER.usual.space
  );
}

/** What the message may take, its long request aside. */
function spaceFor(prior: SummaryState, { space }: Room, count: CountText): number {
  return space + Math.max(0, count(shownRequest(prior)) - Math.floor(space * REQUEST_PART));
}

function linesRoom({ digestTokens }: Room): number {
  return Math.floor(digestTokens * ADDED_LINES);
}

/** What the text of a summary may take. */
export function summaryRoom({ space, room }: StateOrder): number {
  return Math.min(room.summaryTokens, Math.floor(Math.min(space, room.space) * BASE_SHARE * MOST_SUMMARY));
}

/** A summary written anew over everything so far, and the ledger merged. */
export function rewrittenState(order: StateOrder, summary: string): SummaryState {
  const { prior, middle, tail, room, count } = order;
  const whole = Math.min(order.space, room.space);
  const grown = remembered(
    addToLedger(touchLedger(prior.ledger, `${textsOf(tail)}\n${summary}`), factsOf(goingIn(order))),
  );
  const part = Math.floor(whole * REQUEST_PART);
  const requestTokens = Math.min(room.requestTokens, Math.max(part, order.space - whole));
  const request = requestOf(middle, requestTokens, count) || cut(prior.request, requestTokens, count);
  const text = cutAtBorder(summary, summaryRoom(order), count);
  const told = `${text}\n${request}`;
  const left = Math.floor(whole * BASE_SHARE_WITH_FACTS) - count(text) - Math.min(part, count(request));
  const most = Math.max(0, Math.min(room.ledgerTokens, left));
  const base = baseText(text, request, shownLedger(grown, told, most, count));
  return { summary: text, request, updates: [], base, ledger: grown };
}

/** Messages that had to go as well after the summary was written. */
export async function withAlsoGone(state: SummaryState, order: StateOrder): Promise<SummaryState> {
  const { middle, room, count } = order;
  if (isEmpty(order)) return state;
  const { updates, ledger } = await toldInLines(state, order, Math.floor(room.digestTokens / 2));
  return {
    ...state,
    request: requestOf(middle, room.requestTokens, count) || state.request,
    updates: [...state.updates, ...updates],
    ledger,
  };
}

/**
 * A line a message, each shorter until all fit; of what still does not, the newest. What was asked last is always told:
 * an older request that it replaced may stand above.
 */
async function fittedLines(
  middle: readonly Message[],
  mostTokens: number,
  count: CountText,
): Promise<string> {
  let lines = '';
  const asked = middle.findLast(({ role }) => role === 'user');
  const whole = asked === undefined ? undefined : wholeLine(asked, mostTokens * MOST_REQUEST_LINE, count);
  for (const caps of LINES) {
    const told = await stepLines(middle, caps, count);
    lines = told.join('\n');
    if (count(lines) > mostTokens) continue;
    if (asked === undefined || whole === undefined) return lines;
    const [short = ''] = await stepLines([asked], caps, count);
    const at = told.lastIndexOf(short);
    return at < 0 ? lines : told.with(at, whole).join('\n');
  }
  const [short = ''] = asked === undefined ? [] : await stepLines([asked], LEAST_LINES, count);
  const line = whole ?? short;
  const told = lines.split('\n').map((step) => (step === short ? line : step));
  const newest = newestLines(told.join('\n'), mostTokens, count);
  if (line === '' || newest.split('\n').includes(line)) return newest;
  return [line, newestLines(told.join('\n'), mostTokens - count(`${line}\n`), count)]
    .filter(Boolean)
    .join('\n');
}

/** What was asked last, word for word, where that is not too long for a line. */
function wholeLine(asked: Message, mostTokens: number, count: CountText): string | undefined {
  const line = `- ${nameOf(asked)}: ${oneLine(textOf(asked.content))}`;
  return count(line) <= mostTokens ? line : undefined;
}

/** What was told in lines since the summary was written. */
export function stepsOf({ updates }: SummaryState): string {
  return linesOf(updates.filter(({ place }) => place === 'behind'));
}

/** What was told in lines of what stood before the summary. */
export function earlierOf({ updates }: SummaryState): string {
  return linesOf(updates.filter(({ place }) => place === 'before'));
}

function linesOf(updates: readonly Update[]): string {
  return updates
    .map(({ steps }) => steps)
    .filter(Boolean)
    .join('\n');
}

/** What is far longer shows it in its beginning. */
function isLonger(text: string, tokens: number, count: CountText): boolean {
  return count(text.slice(0, tokens * 16)) > tokens * 2 || count(text) > tokens;
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
