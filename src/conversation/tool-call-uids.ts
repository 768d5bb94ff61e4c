import type { NodeRecord } from '../store/conversation-store.js';
import { isFields } from './canonical.js';
import { callIds } from './sequence.js';
import { isUid } from './uid.js';

export type ToolCallUids = NodeRecord['toolCallUids'];

/**
 * A uid for every call of an assistant's message, by the call's id: calls that repeat an id share one.
 * @param known uids of earlier forms of the message, those that count first.
 */
export function toolCallUids(
  message: unknown,
  known: readonly (ToolCallUids | undefined)[],
  mintUid: () => string,
): ToolCallUids {
  if (!isFields(message) || message.role !== 'assistant') return undefined;
  const ids = new Set(callIds(message).filter((id) => id !== ''));
  if (ids.size === 0) return undefined;
  return Object.fromEntries(
    Array.from(ids, (id) => [
      id,
      known.map((uids) => own(uids, id)).find((uid) => uid !== undefined) ?? mintUid(),
    ]),
  );
}

/** The uid of the call that a tool's result answers: the nearest assistant's. */
export function answeredCallUid(
  message: unknown,
  assistant: NodeRecord | undefined,
  resultsBefore: readonly NodeRecord[],
): string | undefined {
  if (!isFields(message) || message.role !== 'tool' || typeof message.tool_call_id !== 'string')
    return undefined;
  const uid = own(assistant?.toolCallUids, message.tool_call_id);
  if (uid === undefined || typeof uid === 'string') return uid;
  const answered = resultsBefore.filter(({ toolCallUid }) => uid.includes(toolCallUid ?? '')).length;
  return uid[answered] ?? uid.at(-1);
}

/** What a client sent as uids of its calls. */
export function sentToolCallUids(value: unknown): ToolCallUids {
  if (!isFields(value)) return undefined;
  const uids = Object.entries(value).filter((entry): entry is [string, string | string[]] => {
    const [, uid] = entry;
    return isUid(uid) || (Array.isArray(uid) && uid.length > 0 && uid.every(isUid));
  });
  return Object.fromEntries(uids);
}

function own(uids: ToolCallUids, id: string): string | readonly string[] | undefined {
  return uids !== undefined && Object.hasOwn(uids, id) ? uids[id] : undefined;
}
