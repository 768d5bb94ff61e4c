import type { Message } from '../message.js';
import { type Caps, digestLines } from './digest.js';
import type { CountText } from './ledger-text.js';

/** What the model is shown of a message at most, of each kind, before all of them have to share what there is. */
const GENEROUS: Caps = { user: 1200, assistant: 800, result: 240 };
const LEAST: Caps = { user: 60, assistant: 30, result: 30 };
const MOST_ROUNDS = 5;

/** A conversation as one text of at most so many tokens; long messages give way first, a user's last. */
export function transcriptText(messages: readonly Message[], mostTokens: number, count: CountText): string {
  let caps = GENEROUS;
  let text = digestLines(messages, caps, count).join('\n');
  for (let round = 0; round < MOST_ROUNDS && count(text) > mostTokens; round += 1) {
    caps = halved(caps);
    text = digestLines(messages, caps, count).join('\n');
  }
  return count(text) > mostTokens ? newestLines(text, mostTokens, count) : text;
}

/** Messages in as many parts as calls are worth it, in order. */
export function inParts(messages: readonly Message[], parts: number): readonly (readonly Message[])[] {
  const length = Math.max(1, Math.ceil(messages.length / parts));
  const split: (readonly Message[])[] = [];
  for (let i = 0; i < messages.length; i += length) split.push(messages.slice(i, i + length));
  return split;
}

export function newestLines(text: string, mostTokens: number, count: CountText): string {
  const lines = text.split('\n');
  let left = mostTokens;
  let start = lines.length;
  while (start > 0) {
    left -= count(lines[start - 1] as string) + 1;
    if (left < 0) break;
    start -= 1;
  }
  return lines.slice(start).join('\n');
}

function halved(caps: Caps): Caps {
  return {
    user: Math.max(LEAST.user, Math.floor(caps.user * 0.65)),
    assistant: Math.max(LEAST.assistant, Math.floor(caps.assistant * 0.5)),
    result: Math.max(LEAST.result, Math.floor(caps.result * 0.5)),
  };
}
