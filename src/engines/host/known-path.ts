import type { Checkpoint, NodeRecord, StoredPath } from '../../store/conversation-store.js';
import { fits, type LiveConversation } from './live-conversation.js';

/** True where what is known of a conversation is all that a request for that model needs. */
export function isCurrent({ checkpoint, checkpointModel, path }: LiveConversation, model: string): boolean {
  return checkpointModel === model && (checkpoint === undefined || fits(checkpoint, path, model));
}

/** What a live conversation knows beyond the store. What follows belongs to it. */
export function withPath(stored: StoredPath, { path, record }: LiveConversation): StoredPath {
  if (path.length <= stored.nodes.length) return stored;
  const last = path.at(-1) as NodeRecord;
  const nodes = [...path.slice(0, -1), { ...last, conversation: record.id }];
  return { ...stored, nodes, conversation: record, others: [] };
}

/** Of those that stand for a beginning of the path. */
export function deepest(
  checkpoints: readonly (Checkpoint | undefined)[],
  path: readonly NodeRecord[],
  model: string,
): Checkpoint | undefined {
  let best: Checkpoint | undefined;
  for (const one of checkpoints) {
    if (one === undefined || !fits(one, path, model)) continue;
    const isDeeper = best === undefined || one.messages > best.messages;
    if (isDeeper || (one.messages === best?.messages && one.created > best.created)) best = one;
  }
  return best;
}
