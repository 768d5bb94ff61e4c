import type { RawObject } from '../body/raw-object.js';

/**
 * A request as context engines see it: a chat. Where the endpoint's own form is another one, this is the chat that
 * stands for it, and the way back; nobody sends the chat itself.
 */
export interface ChatForm {
  readonly chat: RawObject;
  /** True where the request is that chat itself. */
  readonly isOwn: boolean;
  /**
   * The request with the messages of such a chat in the place of its own; all other bytes stay. The same object for
   * the same chat. @throws TypeError for a message that the endpoint has no form for
   */
  withMessagesOf(chat: RawObject): RawObject;
}

/** The form of a request that is a chat itself. */
export function ownForm(request: RawObject): ChatForm {
  return { chat: request, isOwn: true, withMessagesOf: (chat) => chat };
}

/** Messages of a chat that stand for elements of a request's list, one or more. */
export interface Group {
  /** JSON text, one for each message. */
  readonly messages: readonly string[];
  /** The elements' own bytes, from the first one's to the last one's end. */
  readonly original: Buffer;
}

/** An element of a request's list. */
export interface ListElement {
  readonly value: unknown;
  /** Its own bytes. */
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** How an endpoint writes what a chat has as messages. */
export interface Dialect {
  /** The member with the list of messages or items. */
  readonly list: string;
  /** The member with what a chat has as its first system message. */
  readonly head: string;
  /** The chat that a run of elements stands for; `undefined` where some of it has no form in a chat. */
  read(elements: readonly ListElement[], bytes: Buffer): readonly Group[] | undefined;
  /** The elements, as JSON text, that stand for messages of a chat. @throws TypeError where there are none. */
  write(messages: readonly unknown[]): string[];
}
