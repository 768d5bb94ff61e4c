import { headLength, type Message } from '../../../../src/conversation/message.js';

/** What is wrong with a message list, counted by kind. */
export type Violations = Readonly<Record<string, number>>;

export function violationsOf(messages: readonly Message[]): Violations {
  const body = messages.slice(headLength(messages));
  return {
    lateSystem: body.filter(({ role }) => role === 'system').length,
    ...toolViolations(body),
    gemma: alternationBreaks(body.filter(({ role }) => role === 'user' || role === 'assistant')),
    mistral: alternationBreaks(body.filter(isSeenByMistral)),
  };
}

/** The kinds of which `after` has more than `before`. */
export function worseKinds(before: Violations, after: Violations): string[] {
  return Object.keys(after).filter((kind) => (after[kind] ?? 0) > (before[kind] ?? 0));
}

/** As Gemma's template raises: user and assistant in turns, the user first. */
export function alternationBreaks(messages: readonly Message[]): number {
  let breaks = 0;
  let last = 'assistant';
  for (const { role } of messages) {
    if (role === last) breaks += 1;
    last = role;
  }
  return breaks;
}

/** Mistral's template leaves tool calls and results out when it checks that roles alternate. */
function isSeenByMistral({ role, tool_calls: calls }: Message): boolean {
  return role === 'user' || (role === 'assistant' && !(Array.isArray(calls) && calls.length > 0));
}

function toolViolations(messages: readonly Message[]): Violations {
  let orphans = 0;
  let unanswered = 0;
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      unanswered += open.length;
      open = Array.isArray(message.tool_calls)
        ? message.tool_calls.map((call: { id?: unknown } | null) => String(call?.id))
        : [];
    } else if (message.role === 'tool') {
      const at = open.indexOf(String(message.tool_call_id));
      if (at < 0) orphans += 1;
      else open.splice(at, 1);
    }
  }
  return { orphans, unanswered: unanswered + open.length };
}
