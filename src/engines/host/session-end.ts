import { viewMessages } from '../../conversation/view.js';
import type { LiveConversation } from './live-conversation.js';

/** Tells the engine of a conversation that it is put away, and what its messages were. */
export async function endSession({ id, instance, lastRows }: LiveConversation): Promise<void> {
  const made = await instance;
  await made?.engine.onSessionEnd(id, viewMessages(lastRows));
}
