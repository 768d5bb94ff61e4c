import { isFields } from './canonical.js';
import type { Message } from './message.js';
import { sameMessage } from './same-json.js';
import { type Violation, violationsAndOpenEnd } from './sequence.js';

export type ResultProblem = 'not_a_list' | 'empty' | 'new_violation' | 'tail_changed' | 'lost_user_message';

export interface ResultRules {
  /** The last turn alone is too big: behind its user message everything may become less. Asked only where it did. */
  readonly turnMayShrink: () => boolean;
}

/**
 * Why an engine's result cannot take the place of what it was given; `undefined`: it can. It may be wrong where its
 * input was, not elsewhere. The last user message that no engine wrote, and all behind it, stay as they are.
 */
export function checkResult(
  input: readonly Message[],
  output: unknown,
  { turnMayShrink }: ResultRules,
): ResultProblem | undefined {
  if (!Array.isArray(output)) return 'not_a_list';
  if (output.length === 0) return 'empty';
  if (hasNewViolation(input, output)) return 'new_violation';
  const asked = input.findLastIndex(isRequest);
  if (asked >= 0) {
    const kept = output.findLast(isUser);
    if (kept === undefined || !sameMessage(kept, input[asked] as Message)) return 'lost_user_message';
  }
  const tail = input.slice(asked >= 0 ? asked : -1);
  const kept = output.slice(-tail.length);
  const isKept = kept.length === tail.length && tail.every((message, i) => sameMessage(message, kept[i]));
  return isKept || turnMayShrink() ? undefined : 'tail_changed';
}

/**
 * True for a list of messages that breaks no rule which the conversation keeps: an engine may choose freely among
 * the messages of one request.
 */
export function checkSelection(input: readonly Message[], selected: unknown): selected is Message[] {
  return Array.isArray(selected) && selected.every(isFields) && !hasNewViolation(input, selected);
}

/**
 * Violations compare by their code and by the call or message that they are about: one that stays must not pay for
 * one that is new.
 */
function hasNewViolation(input: readonly Message[], output: readonly unknown[]): boolean {
  const found = violationsAndOpenEnd(output);
  if (found.length === 0) return false;
  const left = new Map<string, number>();
  for (const violation of violationsAndOpenEnd(input))
    left.set(key(violation), (left.get(key(violation)) ?? 0) + 1);
  return found.some((violation) => {
    const count = left.get(key(violation)) ?? 0;
    left.set(key(violation), count - 1);
    return count <= 0;
  });
}

function key({ code, subject }: Violation): string {
  return `${code} ${subject}`;
}

/** Of a user, not an engine's own: a summary may speak as one, and changes with each pass. */
function isRequest(message: Message): boolean {
  return isUser(message) && message._engine_mark === undefined;
}

function isUser(message: unknown): message is Message {
  return isFields(message) && message.role === 'user';
}
