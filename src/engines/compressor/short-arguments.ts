import type { Message } from '../../conversation/message.js';
import { clip } from './call-label.js';
import { isRecord } from './message-text.js';
import { parseJson } from './record-facts.js';

const LONGEST_ARGUMENTS = 500;
const LONGEST_LEAF = 200;
const LONGEST_CUT_ARGUMENTS = 2000;

/** The message itself where all its arguments are short. */
export function withShortArguments(message: Message): Message {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  let isChanged = false;
  const shorter = calls.map((call: unknown) => {
    if (!isRecord(call) || !isRecord(call.function)) return call;
    const { arguments: given } = call.function;
    if (typeof given !== 'string' || given.length <= LONGEST_ARGUMENTS) return call;
    isChanged = true;
    return { ...call, function: { ...call.function, arguments: shortArguments(given) } };
  });
  return isChanged ? { ...message, tool_calls: shorter } : message;
}

/** Still a JSON object: templates and servers parse it. */
export function shortArguments(args: string): string {
  const parsed = parseJson(args);
  const json = parsed === undefined ? '' : JSON.stringify(shortLeaves(parsed));
  if (json !== '' && json.length <= LONGEST_CUT_ARGUMENTS) return json;
  return JSON.stringify({ cut: clip(args, LONGEST_LEAF) });
}

function shortLeaves(root: object): unknown {
  return JSON.parse(JSON.stringify(root), (_key, value: unknown) =>
    typeof value === 'string' && value.length > LONGEST_LEAF
      ? `${clip(value, LONGEST_LEAF)} [${value.length - LONGEST_LEAF} more characters]`
      : value,
  ) as unknown;
}
