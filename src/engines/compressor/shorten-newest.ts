import type { Message } from '../../conversation/message.js';
import { isResult, lastUserIndex } from './borders.js';
import { clip } from './call-label.js';
import type { CountText } from './ledger-text.js';
import { textOf } from './message-text.js';

const MOST_RESULTS = 4;
/** The beginning says what it is, the end how it ended. */
const BEGINNING = 0.7;
const LEAST_TOKENS = 60;

/**
 * Takes so many tokens out of the longest results of the last turn: where even these do not fit, half a result is
 * better than no answer. `undefined` where there is none.
 */
export function shortenNewest(
  messages: readonly Message[],
  excessTokens: number,
  count: CountText,
): Message[] | undefined {
  const from = lastUserIndex(messages) + 1;
  const results = messages
    .map((message, index) => ({
      index,
      text: isResult(message) && index >= from ? textOf(message.content) : '',
    }))
    .map(({ index, text }) => ({ index, text, tokens: text === '' ? 0 : count(text) }))
    .filter(({ tokens }) => tokens > LEAST_TOKENS)
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, MOST_RESULTS);
  if (results.length === 0) return undefined;
  const shortened = [...messages];
  let left = excessTokens * 1.1 + 20;
  for (const { index, text, tokens } of results) {
    if (left <= 0) break;
    const kept = Math.max(LEAST_TOKENS, tokens - left);
    left -= tokens - kept;
    const message = messages[index] as Message;
    const shorter = ends(text, kept / tokens);
    shortened[index] = {
      ...message,
      content: Array.isArray(message.content) ? [{ type: 'text', text: shorter }] : shorter,
    };
  }
  return shortened;
}

function ends(text: string, share: number): string {
  const kept = Math.floor(text.length * share);
  const beginning = clip(text, Math.floor(kept * BEGINNING));
  const end = text.slice(text.length - Math.floor(kept * (1 - BEGINNING))).replace(/^[\uDC00-\uDFFF]/, '');
  return `${beginning}\n[${(text.length - kept).toLocaleString('en-US')} characters left out]\n${end}`;
}
