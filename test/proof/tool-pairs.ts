import type { ChatBody } from './relay.js';

/**
 * How many tool messages answer no call of the nearest assistant before them, and how many calls have no answer. An id
 * that stands for several calls needs as many answers.
 */
export function brokenPairs(messages: ChatBody['messages']): number {
  let open: string[] = [];
  let broken = 0;
  for (const message of messages) {
    if (message.role === 'tool') {
      const at = open.indexOf(message.tool_call_id);
      if (at < 0) broken += 1;
      else open.splice(at, 1);
      continue;
    }
    broken += open.length;
    open = message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [];
  }
  return broken + open.length;
}
