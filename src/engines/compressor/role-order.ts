import type { Message } from '../../conversation/message.js';
import { callsOf } from './message-text.js';
import { acknowledgementOf } from './summary-message.js';

/** How often two of the same role follow each other, or an assistant begins, as strict templates see it. */
interface Breaks {
  /** As Gemma's, that looks at every user and assistant. */
  readonly all: number;
  /** As Mistral's, that passes over an assistant that calls tools. */
  readonly spoken: number;
}

export function breaksOf(messages: readonly Message[]): Breaks {
  let all = 0;
  let spoken = 0;
  let last = 'assistant';
  let lastSpoken = 'assistant';
  for (const message of messages) {
    const { role } = message;
    if (role !== 'user' && role !== 'assistant') continue;
    if (role === last) all += 1;
    last = role;
    if (role === 'assistant' && callsOf(message).length > 0) continue;
    if (role === lastSpoken) spoken += 1;
    lastSpoken = role;
  }
  return { all, spoken };
}

/**
 * The view with a summary in its place. Acknowledgements stand around it where that keeps both orders as whole as
 * they were: behind a `first` that ends with a tool's result, and before a user's message.
 */
export function aroundSummary(
  before: readonly Message[],
  first: readonly Message[],
  summary: Message,
  tail: readonly Message[],
): Message[] {
  const most = breaksOf(before);
  const into = [[], [acknowledgementOf(summary, 'before')]];
  const out = [[], [acknowledgementOf(summary, 'behind')]];
  const choices = into.flatMap((lead) =>
    out.map((trail) => {
      const view = [...first, ...lead, summary, ...trail, ...tail];
      const { all, spoken } = breaksOf(view);
      const excess = Math.max(0, all - most.all) + Math.max(0, spoken - most.spoken);
      return { view, rank: [excess, spoken, all, view.length] };
    }),
  );
  choices.sort((a, b) => compared(a.rank, b.rank));
  return choices[0]?.view ?? [...first, summary, ...tail];
}

function compared(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) {
    const difference = value - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
