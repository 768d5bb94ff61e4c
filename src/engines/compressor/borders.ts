import type { Message } from '../../conversation/message.js';

export function isResult({ role }: Pick<Message, 'role'>): boolean {
  return role === 'tool' || role === 'function';
}

/**
 * Where a list may be cut without parting a call from its results: `borders[i]` is true where everything before i may
 * go. A result belongs to the nearest assistant before it, whatever its id says.
 */
export function bordersOf(messages: readonly Message[]): readonly boolean[] {
  const borders = new Array<boolean>(messages.length + 1).fill(true);
  let isAwaited = false;
  for (let i = messages.length - 1; i >= 0; i -= 1) {
    const message = messages[i] as Message;
    if (isResult(message)) isAwaited = true;
    else if (message.role === 'assistant') isAwaited = false;
    borders[i] = i === 0 || !isAwaited;
  }
  return borders;
}

export function lastUserIndex(messages: readonly Message[]): number {
  return messages.findLastIndex(({ role }) => role === 'user');
}

/** Where the last group begins: an assistant with all that answers it, or a message that stands alone. */
export function lastGroupStart(borders: readonly boolean[]): number {
  return Math.max(0, borders.lastIndexOf(true, borders.length - 2));
}

/** The first role that a strict template looks at when it checks that user and assistant alternate. */
export function firstSpeaker(messages: readonly Message[]): string | undefined {
  return messages.find(({ role }) => role === 'user' || role === 'assistant')?.role;
}

export function lastSpeaker(messages: readonly Message[]): string | undefined {
  return messages.findLast(({ role }) => role === 'user' || role === 'assistant')?.role;
}
