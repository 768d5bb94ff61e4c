import type { Message } from '../../conversation/message.js';
import { isResult, lastUserIndex } from './borders.js';
import { clip } from './call-label.js';
import type { CountText } from './ledger-text.js';
import { callsOf, textOf } from './message-text.js';
import { withShortArguments } from './short-arguments.js';

const MOST_RESULTS = 4;
/** The beginning says what it is, the end how it ended. */
const BEGINNING = 0.7;
const LEAST_TOKENS = 60;

/**
 * Takes so many tokens out of the last turn, where even what the model has not read yet does not fit: half a result is
 * better than no answer. Arguments of answered calls go first, since it wrote them itself. `undefined` where there is
 * neither.
 */
export function shortenNewest(
  messages: readonly Message[],
  excessTokens: number,
  count: CountText,
): Message[] | undefined {
  const turn = { from: lastUserIndex(messages) + 1, messages: [...messages], count };
  const wanted = excessTokens * 1.1 + 20;
  const left = shortenResults(turn, shortenArguments(turn, wanted));
  return left < wanted ? turn.messages : undefined;
}

interface Turn {
  readonly from: number;
  /** Changed in place. */
  readonly messages: Message[];
  readonly count: CountText;
}

/** What is still too much afterwards. */
function shortenArguments({ from, messages, count }: Turn, excess: number): number {
  const sizeOf = ({ tool_calls: calls }: Message) => count(JSON.stringify(calls));
  const calling = messages
    .map((message, index) => ({ index, message, shorter: withShortArguments(message) }))
    .filter(
      ({ index, message, shorter }) => index >= from && shorter !== message && isAnswered(messages, index),
    )
    .map(({ index, message, shorter }) => ({ index, shorter, gain: sizeOf(message) - sizeOf(shorter) }))
    .sort((a, b) => b.gain - a.gain);
  let left = excess;
  for (const { index, shorter, gain } of calling) {
    if (left <= 0) break;
    messages[index] = shorter;
    left -= gain;
  }
  return left;
}

function isAnswered(messages: readonly Message[], index: number): boolean {
  const calls = callsOf(messages[index] as Message).length;
  const behind = messages.slice(index + 1, index + 1 + calls);
  return behind.length === calls && behind.every(isResult);
}

/** The same of the longest results, in their middle. */
function shortenResults({ from, messages, count }: Turn, excess: number): number {
  const results = messages
    .map((message, index) => ({
      index,
      text: isResult(message) && index >= from ? textOf(message.content) : '',
    }))
    .map(({ index, text }) => ({ index, text, tokens: text === '' ? 0 : count(text) }))
    .filter(({ tokens }) => tokens > LEAST_TOKENS)
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, MOST_RESULTS);
  let left = excess;
  for (const { index, text, tokens } of results) {
    if (left <= 0) break;
    const kept = Math.max(LEAST_TOKENS, tokens - left);
    left -= tokens - kept;
    const message = messages[index] as Message;
    const shorter = ends(text, kept / tokens);
    const content = Array.isArray(message.content) ? [{ type: 'text', text: shorter }] : shorter;
    messages[index] = { ...message, content };
  }
  return left;
}

function ends(text: string, share: number): string {
  const kept = Math.floor(text.length * share);
  const beginning = clip(text, Math.floor(kept * BEGINNING));
  const end = text.slice(text.length - Math.floor(kept * (1 - BEGINNING))).replace(/^[\uDC00-\uDFFF]/, '');
  return `${beginning}\n[${(text.length - kept).toLocaleString('en-US')} characters left out]\n${end}`;
}
