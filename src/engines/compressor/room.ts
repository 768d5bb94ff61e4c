import type { Message } from '../../conversation/message.js';
import type { EngineServices } from '../services.js';
import type { PlanBudget } from './plan.js';
import type { CompressorSettings } from './settings.js';

/** What may stand in a view, in tokens. */
export interface Room extends PlanBudget {
  /** P to get down to. */
  readonly target: number;
  /** P at which no other try is made. */
  readonly accepted: number;
  /** True where what a summary stands behind and was written before is not given up for the target: a pass is due. */
  readonly keepsLines: boolean;
  /** What head, tools and template take of it. */
  readonly fixed: number;
  /** What is left of it for messages. */
  readonly total: number;
  /** What the summary message may take at most. */
  readonly space: number;
  /** What it may take whatever stays behind it: what was said must not be lost for a long turn. */
  readonly leastSpace: number;
  /** A turn up to here has to stay as it is. */
  readonly leastTurn: number;
  readonly summaryTokens: number;
  readonly ledgerTokens: number;
  readonly digestTokens: number;
  readonly requestTokens: number;
  readonly inputTokens: number;
}

/** Less than this is no room for anything, but some plan has to be made. */
const LEAST_ROOM = 256;
/** What the last turn may take of it; the rest is for the summary. */
const TURN_SHARE = 0.7;
const REQUEST_SHARE = 0.5;
const MOST_REQUEST_TOKENS = 4000;
/** Of the window less head and tools: what a conversation is, whatever a single pass aims at. */
const OWN_SHARE = 0.45;
/** Summary, list and lines are seldom all at their most. */
const TOGETHER = 0.8;
/** A target that leaves less of that is raised: it would cost all that was said, time after time. */
const LEAST_SHARE = 0.85;
/** Parts of the window: whoever asks for a pass before, or for much less than that, wants it. */
const NEARLY_DUE = 0.6;
const LEAST_RAISED = 0.31;
const LEAST_TAIL = 0.04;
const LEAST_SPACE = 0.36;
/** Of the window: a view over a raised target, for a long turn, rather keeps what was said. */
const OVER_TARGET = 0.7;

export interface RoomOrder {
  readonly target: number;
  /** P of the view as it is. */
  readonly before: number;
  /** The most that a target may be raised to. */
  readonly most: number;
  readonly fixed: number;
  readonly leastTurn: number;
  readonly contextLength: number;
  readonly thresholdTokens: number;
  readonly settings: CompressorSettings;
  readonly protectFirstN: number;
  readonly protectLastN: number;
}

export function makeRoom(order: RoomOrder): Room {
  const { fixed, contextLength, thresholdTokens, settings, protectFirstN, protectLastN } = order;
  const above = Math.max(0, thresholdTokens - fixed);
  const isDue =
    order.before >= NEARLY_DUE * thresholdTokens && order.target >= LEAST_RAISED * thresholdTokens;
  const base = Math.max(LEAST_ROOM, order.target - fixed, isDue ? OWN_SHARE * above : 0);
  const share = (part: number, most = Number.POSITIVE_INFINITY) => Math.floor(Math.min(part * base, most));
  const summaryTokens = share(settings.summary_share, settings.summary_max_tokens);
  const ledgerTokens = share(settings.ledger_share, settings.ledger_max_tokens);
  const digestTokens = share(settings.digest_share, settings.digest_max_tokens);
  const space = Math.floor((summaryTokens + ledgerTokens + digestTokens) * TOGETHER);
  const wanted = fixed + space + Math.floor(LEAST_TAIL * above);
  const isTooLow = isDue && order.target - fixed < LEAST_SHARE * OWN_SHARE * above;
  const target = isTooLow ? Math.max(order.target, Math.min(wanted, order.most)) : order.target;
  const isRaised = target > order.target;
  const total = Math.max(LEAST_ROOM, target - fixed);
  const inputTokens = share(settings.input_share, settings.input_max_tokens);
  const longestInput = contextLength > 0 ? contextLength - 2 * summaryTokens - 600 : inputTokens;
  return {
    target,
    fixed,
    total,
    accepted: isRaised ? Math.max(target, Math.floor(OVER_TARGET * thresholdTokens)) : target,
    keepsLines: isDue,
    space,
    leastSpace: isTooLow && (isRaised || wanted <= target) ? space : Math.floor(LEAST_SPACE * total),
    firstMessages: protectFirstN,
    firstTokens: Math.floor(settings.head_share * total),
    lastMessages: protectLastN,
    tailTokens: Math.max(0, Math.floor(Math.min(settings.tail_share * total, total - space))),
    turnTokens: Math.max(order.leastTurn, Math.floor(TURN_SHARE * total)),
    leastTurn: order.leastTurn,
    summaryTokens,
    ledgerTokens: Math.min(ledgerTokens, Math.floor(settings.ledger_share * target)),
    digestTokens,
    requestTokens: share(REQUEST_SHARE, MOST_REQUEST_TOKENS),
    inputTokens: Math.max(LEAST_ROOM, Math.min(inputTokens, longestInput)),
  };
}

/** Less of what may give way, for another try. */
export function tighter(room: Room, step: number): Room {
  return {
    ...room,
    firstMessages: 0,
    // Those that stand before an earlier summary are no wish any more, but still history.
    firstTokens: step > 1 && !room.keepsLines ? 0 : room.firstTokens,
    lastMessages: 0,
    tailTokens: step > 1 ? 0 : Math.floor(room.tailTokens / 2),
    turnTokens: step > 1 ? Math.max(room.leastTurn, Math.floor(room.total / 2)) : room.turnTokens,
  };
}

/** The rough size of each message, without what a counter adds for a conversation. */
export function sizesOf(messages: readonly Message[], services: EngineServices): readonly number[] {
  const empty = services.estimateTokens([]);
  return messages.map((message) => {
    const before = known.get(message);
    if (before !== undefined) return before;
    const size = Math.max(1, services.estimateTokens(message) - empty);
    known.set(message, size);
    return size;
  });
}

/** Messages are the engine's own copies, and never written to. */
const known = new WeakMap<Message, number>();

export function total(sizes: readonly number[]): number {
  return sizes.reduce((sum, tokens) => sum + tokens, 0);
}
