import { headLength, type Message } from '../conversation/message.js';

export function isMessageList(value: unknown): value is Message[] {
  return Array.isArray(value) && value.every(isMessage);
}

function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const role: unknown = Reflect.get(value, 'role');
  return typeof role === 'string' && role !== '';
}

/** What is wrong with the order of messages, or `undefined`. */
export function sequenceFault(messages: readonly Message[]): string | undefined {
  let open: string[] = [];
  const head = headLength(messages);
  for (const [index, message] of messages.entries()) {
    const { role } = message;
    if (role === 'tool') {
      const at = open.indexOf(String(message.tool_call_id));
      if (at < 0) return `message ${index} is the result of a tool call that is not right before it`;
      open.splice(at, 1);
      continue;
    }
    if (open.length > 0) return `message ${index} comes before the results of all tool calls in front of it`;
    if (index >= head && (role === 'system' || role === 'developer')) {
      return `message ${index} is a ${role} message behind the head`;
    }
    open = callIds(message);
  }
  return open.length > 0 ? 'the last tool calls have no results' : undefined;
}

function callIds({ role, tool_calls: calls }: Message): string[] {
  if (role !== 'assistant' || !Array.isArray(calls)) return [];
  return calls.map((call: unknown) => String(Object(call).id));
}

/** The last message of a user. */
export function lastUser(messages: readonly Message[]): Message | undefined {
  return messages.findLast(({ role }) => role === 'user');
}
