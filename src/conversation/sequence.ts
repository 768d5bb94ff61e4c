import { isFields } from './canonical.js';
import type { Message } from './message.js';

export type ViolationCode =
  | 'not_an_object'
  | 'bad_role'
  /** A tool's result that answers no call of the nearest assistant before it. */
  | 'tool_without_call'
  | 'call_without_result'
  /** A system or developer message behind the head. */
  | 'late_system';

/** Where a list of messages is not one that a strict chat template takes. */
export interface Violation {
  readonly code: ViolationCode;
  readonly index: number;
  /** Which call it is about, or which message: the same one in another list has the same. */
  readonly subject: string;
}

type Fields = Readonly<Record<string, unknown>>;

const ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

/**
 * What is wrong with a sequence of messages. Calls at its very end whose results have not come are the client's to
 * answer, and no violation.
 */
export function violations(messages: readonly Message[]): readonly Violation[] {
  const { found, openEnd } = inspect(messages);
  return found.filter((violation) => !openEnd.includes(violation));
}

/** The same, with the calls at the very end. */
export function violationsAndOpenEnd(messages: readonly unknown[]): readonly Violation[] {
  return inspect(messages).found;
}

/** The ids of an assistant's calls, in their order. */
export function callIds(message: Fields): string[] {
  const calls = message.tool_calls;
  return Array.isArray(calls) ? calls.map((call) => text(isFields(call) ? call.id : undefined)) : [];
}

interface Inspection {
  readonly found: Violation[];
  /** Those of the calls at the very end. */
  readonly openEnd: readonly Violation[];
}

function inspect(messages: readonly unknown[]): Inspection {
  const found: Violation[] = [];
  let calls = new Calls(-1, []);
  let isHead = true;
  messages.forEach((message, index) => {
    if (!isFields(message)) {
      isHead = false;
      calls.isAtTheEnd = false;
      found.push({ code: 'not_an_object', index, subject: JSON.stringify(message) ?? '' });
      return;
    }
    const { role } = message;
    const isSystem = role === 'system' || role === 'developer';
    isHead &&= isSystem;
    if (isSystem && !isHead) found.push({ code: 'late_system', index, subject: name(message) });
    if (!ROLES.has(role)) found.push({ code: 'bad_role', index, subject: name(message) });
    if (role === 'tool') found.push(...calls.answer(index, text(message.tool_call_id)));
    else calls.isAtTheEnd = false;
    if (role !== 'assistant') return;
    found.push(...calls.unanswered());
    calls = new Calls(index, callIds(message));
  });
  const last = calls.unanswered();
  return { found: [...found, ...last], openEnd: calls.isAtTheEnd ? last : [] };
}

/** The calls of an assistant, until the next one. */
class Calls {
  /** True while nothing but results came after them. */
  isAtTheEnd = true;
  readonly #answered = new Set<string>();

  constructor(
    private readonly index: number,
    private readonly ids: readonly string[],
  ) {}

  answer(index: number, id: string): Violation[] {
    if (!this.ids.includes(id)) return [{ code: 'tool_without_call', index, subject: id }];
    this.#answered.add(id);
    return [];
  }

  /** Calls that repeat an id are one. */
  unanswered(): Violation[] {
    const missing = new Set(this.ids.filter((id) => !this.#answered.has(id)));
    return Array.from(missing, (subject) => ({ code: 'call_without_result', index: this.index, subject }));
  }
}

/** A message's uid, else what it says. */
function name(message: Fields): string {
  return text(message.message_uid) || (JSON.stringify([message.role, message.content]) ?? '');
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
