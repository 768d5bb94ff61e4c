import { headLength, type Message } from '../../conversation/message.js';
import { bordersOf, lastUserIndex } from './borders.js';
import { isAcknowledgement, readSummary, type SummaryState } from './mark.js';

/** A conversation taken apart: without the engine's own rows, but with what they know. */
export interface View {
  readonly head: readonly Message[];
  /** What clients and upstream said after the head. */
  readonly rest: readonly Message[];
  readonly prior: SummaryState | undefined;
  /** How many of `rest` stand before the earlier summary. */
  readonly beforePrior: number;
  /** Index in `rest`, -1 without one. */
  readonly lastUser: number;
  readonly borders: readonly boolean[];
}

export function readView(messages: readonly Message[]): View {
  const head = messages.slice(0, headLength(messages));
  const body = messages.slice(head.length);
  // One that is not the newest is history like any other: what it knew the newest took over.
  const at = body.findLastIndex((message) => readSummary(message) !== undefined);
  const prior = at < 0 ? undefined : readSummary(body[at] as Message);
  const rest = body.filter((message, index) => index !== at && !isAcknowledgement(message));
  const beforePrior = at < 0 ? 0 : body.slice(0, at).filter((message) => !isAcknowledgement(message)).length;
  return { head, rest, prior, beforePrior, lastUser: lastUserIndex(rest), borders: bordersOf(rest) };
}
