import type { Message } from '../message.js';
import type { EngineServices } from '../services.js';
import type { PlanBudget } from './plan.js';
import type { CompressorSettings } from './settings.js';

/** What may stand in a view, in tokens. */
export interface Room extends PlanBudget {
  /** P to get down to. */
  readonly target: number;
  /** What head, tools and template take of it. */
  readonly fixed: number;
  /** What is left of it for messages. */
  readonly total: number;
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
const REQUEST_SHARE = 0.12;
const MOST_REQUEST_TOKENS = 1000;

export interface RoomOrder {
  readonly target: number;
  readonly fixed: number;
  readonly contextLength: number;
  readonly settings: CompressorSettings;
  readonly protectFirstN: number;
  readonly protectLastN: number;
}

export function makeRoom({
  target,
  fixed,
  contextLength,
  settings,
  protectFirstN,
  protectLastN,
}: RoomOrder): Room {
  const total = Math.max(LEAST_ROOM, target - fixed);
  const part = (share: number, most = Number.POSITIVE_INFINITY) => Math.floor(Math.min(share * total, most));
  const summaryTokens = part(settings.summary_share, settings.summary_max_tokens);
  const inputTokens = part(settings.input_share, settings.input_max_tokens);
  const longestInput = contextLength > 0 ? contextLength - 2 * summaryTokens - 600 : inputTokens;
  return {
    target,
    fixed,
    total,
    firstMessages: protectFirstN,
    firstTokens: part(settings.head_share),
    lastMessages: protectLastN,
    tailTokens: part(settings.tail_share),
    turnTokens: part(TURN_SHARE),
    summaryTokens,
    ledgerTokens: part(settings.ledger_share, settings.ledger_max_tokens),
    digestTokens: part(settings.digest_share, settings.digest_max_tokens),
    requestTokens: part(REQUEST_SHARE, MOST_REQUEST_TOKENS),
    inputTokens: Math.max(LEAST_ROOM, Math.min(inputTokens, longestInput)),
  };
}

/** Less of what may give way, for another try. */
export function tighter(room: Room, step: number): Room {
  return {
    ...room,
    firstMessages: 0,
    lastMessages: 0,
    tailTokens: step > 1 ? 0 : Math.floor(room.tailTokens / 2),
    turnTokens: step > 1 ? Math.floor(room.total / 2) : room.turnTokens,
  };
}

/** The rough size of each message, without what a counter adds for a conversation. */
export function sizesOf(messages: readonly Message[], services: EngineServices): readonly number[] {
  const empty = services.estimateTokens([]);
  return messages.map((message) => Math.max(1, services.estimateTokens(message) - empty));
}

export function total(sizes: readonly number[]): number {
  return sizes.reduce((sum, tokens) => sum + tokens, 0);
}
