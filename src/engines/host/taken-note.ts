import { isFields, plainText } from '../../conversation/canonical.js';
import type { Message } from '../../conversation/message.js';
import type { NodeRecord } from '../../store/conversation-store.js';
import type { LiveConversation } from './live-conversation.js';

/** The last message of a conversation's last request, where it is a user's. */
export interface NewestAsked {
  readonly hash: string;
  readonly text: string;
}

/** Longer ones are not kept for it. */
const MOST_CHARACTERS = 16_384;

export function newestAsked(
  path: readonly NodeRecord[],
  messages: readonly Message[],
): NewestAsked | undefined {
  const node = path.at(-1);
  const text = askedText(messages[path.length - 1]);
  if (node === undefined || text === undefined || text.length > MOST_CHARACTERS) return undefined;
  return { hash: node.hash, text };
}

/**
 * The node that the first unknown message of a request stands for. Agents append a note to their newest user message,
 * such as the time, and take it away with the next request: that is no fork of the conversation.
 * @param messages the request's, without its head.
 * @param known how many of them are known in their place.
 */
export function withoutNote(
  { path, newest }: LiveConversation,
  messages: readonly Message[],
  known: readonly NodeRecord[],
): NodeRecord | undefined {
  const last = path.at(-1);
  const isReplaced = path.length === known.length + 1 && last?.parent === known.at(-1)?.hash;
  // A message that is only edited is asked anew, and not answered yet.
  const isAnswered = messages[known.length + 1]?.role === 'assistant';
  if (!isReplaced || !isAnswered || newest === undefined || newest.hash !== last?.hash) return undefined;
  const text = askedText(messages[known.length]);
  return text !== undefined && text !== '' && newest.text.includes(text) ? last : undefined;
}

function askedText(message: unknown): string | undefined {
  if (!isFields(message) || message.role !== 'user') return undefined;
  return plainText(message.content)?.trim();
}
