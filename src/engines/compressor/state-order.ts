import type { Message } from '../../conversation/message.js';
import type { CountText } from './ledger-text.js';
import type { SummaryState } from './mark.js';
import type { Room } from './room.js';

export interface StateOrder {
  readonly prior: SummaryState;
  /** What goes into the summary in this pass, and stood before all that it has told so far. */
  readonly early: readonly Message[];
  /** What goes into it of what came since. */
  readonly middle: readonly Message[];
  /** What stays behind it. */
  readonly tail: readonly Message[];
  readonly room: Room;
  /** What the summary message may take. */
  readonly space: number;
  readonly count: CountText;
}

/** All that goes into the summary, in its order. */
export function goingIn({ early, middle }: StateOrder): readonly Message[] {
  return [...early, ...middle];
}

export function isEmpty({ early, middle }: StateOrder): boolean {
  return early.length + middle.length === 0;
}

/** What a text tells, and what had to go as well after it was written: before what it tells, or behind. */
export function apart(
  order: StateOrder,
  covered: ReadonlySet<Message>,
): { readonly told: StateOrder; readonly also: StateOrder } {
  const { early, middle } = order;
  const begun = middle.findIndex((message) => covered.has(message));
  const isTold = (message: Message) => covered.has(message);
  const isBefore = (message: Message, index: number) => !covered.has(message) && index < begun;
  const isBehind = (message: Message, index: number) => !covered.has(message) && index >= begun;
  return {
    told: { ...order, early: early.filter(isTold), middle: middle.filter(isTold) },
    also: {
      ...order,
      early: [...early.filter((message) => !isTold(message)), ...middle.filter(isBefore)],
      middle: middle.filter(isBehind),
    },
  };
}
