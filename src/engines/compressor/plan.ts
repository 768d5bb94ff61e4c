import type { Message } from '../../conversation/message.js';
import { firstSpeaker, lastGroupStart, lastSpeaker } from './borders.js';
import type { View } from './view.js';

/** What stays verbatim; the rest goes into the summary. */
export interface Plan {
  /** `rest` up to here stays before the summary. */
  readonly first: number;
  /** `rest` from here on stays behind it. */
  readonly tail: number;
  /** Where the last turn itself is shortened: its groups from here on stay, those after its request before it go. */
  readonly turnTail: number | undefined;
}

export interface PlanBudget {
  readonly firstMessages: number;
  readonly firstTokens: number;
  readonly lastMessages: number;
  readonly tailTokens: number;
  /** What the last turn may take before it is shortened itself. */
  readonly turnTokens: number;
}

/** Tail tokens may grow by this for the wish of so many messages. */
const WISH = 1.25;

export type Sizes = readonly number[];

export function makePlan(view: View, sizes: Sizes, budget: PlanBudget): Plan {
  const floor = tailFloor(view);
  const turn = sum(sizes, Math.max(0, view.lastUser), sizes.length);
  const turnTail = turn > budget.turnTokens ? turnTailStart(view, sizes, budget.tailTokens) : undefined;
  const tail = turnTail === undefined ? tailStart(view, sizes, budget, floor) : Math.max(0, view.lastUser);
  return { first: Math.min(firstEnd(view, sizes, budget), tail), tail, turnTail };
}

/** The messages that go into the summary and stood before an earlier one. */
export function earlyOf({ rest, beforePrior }: View, { first, tail }: Plan): readonly Message[] {
  return rest.slice(first, Math.min(beforePrior, tail));
}

/** The others that go into the summary, in their order. */
export function middleOf(view: View, { first, tail, turnTail }: Plan): readonly Message[] {
  const before = view.rest.slice(Math.max(first, Math.min(view.beforePrior, tail)), tail);
  return turnTail === undefined ? before : [...before, ...view.rest.slice(view.lastUser + 1, turnTail)];
}

/** All that goes into the summary. */
export function goneOf(view: View, plan: Plan): readonly Message[] {
  return [...earlyOf(view, plan), ...middleOf(view, plan)];
}

/** What stands behind the summary. */
export function tailOf(view: View, { tail, turnTail }: Plan): readonly Message[] {
  if (turnTail === undefined) return view.rest.slice(tail);
  return [...view.rest.slice(view.lastUser, view.lastUser + 1), ...view.rest.slice(turnTail)];
}

/** The least tail: from the last user message on, or without one the last group. */
export function tailFloor({ rest, borders, lastUser }: View): number {
  if (lastUser < 0) return lastGroupStart(borders);
  let floor = lastUser;
  while (floor > 0 && borders[floor] !== true) floor -= 1;
  return Math.min(floor, rest.length);
}

/**
 * By tokens first; by messages while that does not cost much more. What stood before an earlier summary came before
 * all that the new one tells.
 */
function tailStart({ borders, beforePrior }: View, sizes: Sizes, budget: PlanBudget, floor: number): number {
  let start = floor;
  for (let at = floor - 1; at >= beforePrior; at -= 1) {
    if (borders[at] !== true) continue;
    const isWished = sizes.length - at <= budget.lastMessages;
    if (sum(sizes, at, sizes.length) > budget.tailTokens * (isWished ? WISH : 1)) break;
    start = at;
  }
  return start;
}

/** Newest groups of the turn while they fit, the last one in any case. `undefined` where nothing of it could go. */
function turnTailStart({ borders, lastUser }: View, sizes: Sizes, tailTokens: number): number | undefined {
  if (lastUser < 0 || borders[lastUser + 1] !== true) return undefined;
  const last = lastGroupStart(borders);
  if (last <= lastUser + 1) return undefined;
  let start = last;
  for (let at = last - 1; at > lastUser; at -= 1) {
    if (borders[at] !== true) continue;
    if (sum(sizes, at, sizes.length) > tailTokens) break;
    start = at;
  }
  return start > lastUser + 1 ? start : undefined;
}

/**
 * The first messages stay where they are, also when a summary follows them; those that would come to stand before an
 * earlier summary do not. They end with an assistant, so that the summary may follow as a user message.
 */
function firstEnd(
  { rest, borders, lastUser, prior, beforePrior }: View,
  sizes: Sizes,
  budget: PlanBudget,
): number {
  const most = Math.min(prior === undefined ? budget.firstMessages : beforePrior, Math.max(0, lastUser));
  for (let end = most; end > 0; end -= 1) {
    if (borders[end] !== true || lastSpeaker(rest.slice(0, end)) !== 'assistant') continue;
    if (firstSpeaker(rest.slice(0, end)) === 'user' && sum(sizes, 0, end) <= budget.firstTokens) return end;
  }
  return 0;
}

export function sum(sizes: Sizes, from: number, end: number): number {
  let total = 0;
  for (let i = from; i < end; i += 1) total += sizes[i] ?? 0;
  return total;
}
