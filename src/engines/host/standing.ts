import { contentHash, isFields } from '../../conversation/canonical.js';
import type { Message } from '../../conversation/message.js';
import type { Checkpoint } from '../../store/conversation-store.js';

/** From where a request stays as it is: its last user message, else its last one. */
export function keptFrom(messages: readonly Message[]): number {
  const asked = messages.findLastIndex(isUser);
  return asked >= 0 ? asked : messages.length - 1;
}

/**
 * True where a checkpoint on a request's path leaves that request what it asks. One that was made further on may have
 * summarised it: a client that goes back to an earlier message, such as to have it answered anew, asks it again.
 * @param messages the request's, without its head.
 * @param turnMayShrink a pass is due: what follows the last user message may have become less.
 */
export function stands(
  checkpoint: Checkpoint,
  messages: readonly Message[],
  { turnMayShrink }: { readonly turnMayShrink: boolean },
): boolean {
  const from = keptFrom(messages);
  if (checkpoint.messages <= from) return true;
  const rows = checkpoint.rows.map(({ bytes }): Message => JSON.parse(bytes.toString('utf8')));
  const tail = messages.slice(from, checkpoint.messages);
  const kept = rows.slice(-tail.length);
  if (kept.length === tail.length && tail.every((message, i) => isSame(message, kept[i]))) return true;
  // Further on in the same turn only its older part may be shorter; a request that ends there asks about that part.
  if (!turnMayShrink && checkpoint.messages === messages.length) return false;
  const asked = messages[from];
  return isUser(asked) && isSame(asked, rows.findLast(isUser));
}

function isSame(a: Message, b: Message | undefined): boolean {
  return b !== undefined && contentHash(a) === contentHash(b);
}

function isUser(message: unknown): message is Message {
  return isFields(message) && message.role === 'user';
}
