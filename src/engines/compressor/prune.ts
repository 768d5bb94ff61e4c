import type { Message } from '../../conversation/message.js';
import { othersTurn } from '../turns.js';
import { isResult } from './borders.js';
import type { CountText } from './ledger-text.js';
import { placeholderOf, textOf } from './message-text.js';
import { pairCalls } from './pair-calls.js';
import { withShortArguments } from './short-arguments.js';
import { toldResult } from './tool-line.js';

/** A shorter result costs about what its line would. */
const SHORTEST_RESULT = 200;
/** What a line may repeat of its result, in tokens: a share of it, within bounds. */
const FACT_SHARE = 0.4;
const MOST_FACT_TOKENS = 260;

export interface Pruned {
  readonly messages: readonly Message[];
  /** How many messages became shorter. */
  readonly changed: number;
}

/** The old messages with results as one line, media as placeholders and long arguments cut. */
export async function prune(
  messages: readonly Message[],
  isOld: (index: number) => boolean,
  count: CountText,
  signal?: AbortSignal,
): Promise<Pruned> {
  const calls = pairCalls(messages);
  const kept = new Set(
    messages.filter((message, i) => !isOld(i) && isResult(message)).map(({ content }) => textOf(content)),
  );
  let changed = 0;
  const pruned: Message[] = [];
  for (const [index, message] of messages.entries()) {
    const next = isOld(index) ? shorter(message, index) : message;
    if (next !== message) changed += 1;
    pruned.push(next);
    await othersTurn(signal);
  }
  return { messages: pruned, changed };

  function shorter(message: Message, index: number): Message {
    return isResult(message)
      ? prunedResult(message, () => lineFor(message, index))
      : withShortArguments(withoutMedia(message));
  }

  function lineFor(message: Message, index: number): string {
    const told = toldResult(message);
    const { text } = told;
    // The copy that stays has every word: this one need not say any of it.
    const isKept = kept.has(text);
    const factTokens = isKept ? 0 : Math.min(MOST_FACT_TOKENS, Math.max(40, count(text) * FACT_SHARE));
    const line = told.line(calls.get(index), factTokens, count);
    return isKept ? line.replace(/\]$/, ', the same as a later result]') : line;
  }
}

function prunedResult(message: Message, line: () => string): Message {
  const text = textOf(message.content);
  if (text.length <= SHORTEST_RESULT) return withoutMedia(message);
  const shorter = line();
  if (shorter.length >= text.length) return withoutMedia(message);
  const content = Array.isArray(message.content) ? [{ type: 'text', text: shorter }] : shorter;
  return { ...message, content };
}

/** Media as text: they cost a thousand tokens each, and what was seen in them is in the answers. */
function withoutMedia(message: Message): Message {
  const { content } = message;
  if (!Array.isArray(content) || content.every((part) => placeholderOf(part) === undefined)) return message;
  const parts = content.map((part: unknown) => {
    const placeholder = placeholderOf(part);
    return placeholder === undefined ? part : { type: 'text', text: placeholder };
  });
  return { ...message, content: parts };
}
