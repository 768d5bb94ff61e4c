import type { Message } from '../../conversation/message.js';
import { othersTurn } from '../turns.js';
import { type Caps, digestLines } from './digest.js';
import type { CountText } from './ledger-text.js';

/** What the model is shown of a message at most, of each kind, before all of them have to share what there is. */
const GENEROUS: Caps = { user: 1200, assistant: 800, result: 240 };
const LEAST: Caps = { user: 24, assistant: 12, result: 20 };
const MOST_ROUNDS = 6;

/** A conversation as one text of at most so many tokens; long messages give way first, a user's last. */
export async function transcriptText(
  messages: readonly Message[],
  mostTokens: number,
  count: CountText,
  signal?: AbortSignal,
): Promise<string> {
  let caps = GENEROUS;
  let lines = await digestLines(messages, caps, count, signal);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const size = await sizeOf(lines, count, signal);
    if (size <= mostTokens) return lines.join('\n');
    caps = smaller(caps, mostTokens / size);
    lines = await digestLines(messages, caps, count, signal);
  }
  const text = lines.join('\n');
  return (await sizeOf(lines, count, signal)) > mostTokens ? newestLines(text, mostTokens, count) : text;
}

/** Line by line: those that stay the same from round to round are weighed once. */
async function sizeOf(lines: readonly string[], count: CountText, signal?: AbortSignal): Promise<number> {
  let size = 0;
  for (const line of lines) {
    size += count(line);
    await othersTurn(signal);
  }
  return size;
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

function smaller(caps: Caps, share: number): Caps {
  return {
    user: Math.max(LEAST.user, Math.floor(caps.user * Math.min(0.8, Math.sqrt(share)))),
    assistant: Math.max(LEAST.assistant, Math.floor(caps.assistant * Math.min(0.6, share))),
    result: Math.max(LEAST.result, Math.floor(caps.result * Math.min(0.6, share))),
  };
}
