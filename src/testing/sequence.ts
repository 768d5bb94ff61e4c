import type { Message } from '../conversation/message.js';
import { callIds, type ViolationCode, violationsAndOpenEnd } from '../conversation/sequence.js';

export function isMessageList(value: unknown): value is Message[] {
  return Array.isArray(value) && value.every(isMessage);
}

function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const role: unknown = Reflect.get(value, 'role');
  return typeof role === 'string' && role !== '';
}

const FAULTS: Readonly<Record<ViolationCode, string>> = {
  not_an_object: 'is no object',
  bad_role: 'has a role that no message has',
  tool_without_call: 'is the result of a tool call that is not before it',
  call_without_result: 'has a tool call without a result',
  late_system: 'is a system or developer message behind the head',
};

/** What is wrong with the order of messages, or `undefined`: whatever the host refuses, and results out of place. */
export function sequenceFault(messages: readonly Message[]): string | undefined {
  const [violation] = violationsAndOpenEnd(messages);
  if (violation !== undefined) return `message ${violation.index} ${FAULTS[violation.code]}`;
  return misplacedResult(messages);
}

/** The host bears these, as clients send them; some servers take results only right behind their calls, one each. */
function misplacedResult(messages: readonly Message[]): string | undefined {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const at = open.indexOf(String(message.tool_call_id));
      if (at < 0) return `message ${index} is a result too many, or not right behind its tool call`;
      open.splice(at, 1);
      continue;
    }
    if (open.length > 0) return `message ${index} comes before the results of all tool calls in front of it`;
    open = message.role === 'assistant' ? callIds(message) : [];
  }
  return open.length > 0 ? 'the last tool calls have no results' : undefined;
}

/** The last message of a user. */
export function lastUser(messages: readonly Message[]): Message | undefined {
  return messages.findLast(({ role }) => role === 'user');
}
