import type { Message } from '../../conversation/message.js';
import { callLabel } from './call-label.js';
import type { CountText } from './ledger-text.js';
import { type Call, textOf } from './message-text.js';
import { type Fact, factsIn } from './record-facts.js';

const EXIT_CODE = /"?exit[_ ]?code"?\s*[:=]?\s*(-?\d+)/i;
const FAILED = /^\W*(?:"?error"?\b|traceback|exception|fatal)/i;

/** A result that is told in one line, as often as somebody asks: it is read once. */
export class ToldResult {
  #size: string | undefined;
  #facts: readonly Fact[] | undefined;

  constructor(readonly text: string) {}

  /** What it says exactly. */
  get facts(): readonly Fact[] {
    this.#facts ??= factsIn(withoutOwnNotes(this.text));
    return this.#facts;
  }

  /** Which tool, with what, how much came back, how it ended, and what it says exactly. */
  line(call: Call | undefined, factTokens: number, count: CountText): string {
    const label = call === undefined ? 'tool' : callLabel(call);
    this.#size ??= sizeOf(this.text);
    const facts = boundedFacts(this.facts, label, factTokens, count);
    return `[${label} -> ${this.#size}${facts === '' ? '' : `: ${facts}`}]`;
  }
}

/** A result that an earlier pass made a line of, and what was cut in the middle or at the end. */
const OWN_LINE =
  /^\[[^\n]* -> [\d,]+ chars(?:, \d+ lines)?(?:, exit code -?\d+)?(?:, failed)?(?::([^\n]*?))?(?:, the same as a later result)?\]$/;
const LEFT_OUT = /\[[\d,]+ (?:characters left out|more characters)\]/g;

/** What the tool said: sizes and cuts that the engine told of it are no facts. */
export function withoutOwnNotes(text: string): string {
  const line = OWN_LINE.exec(text);
  return line === null ? text.replaceAll(LEFT_OUT, '') : (line[1] ?? '');
}

const told = new WeakMap<Message, ToldResult>();

export function toldResult(message: Message): ToldResult {
  const before = told.get(message);
  if (before !== undefined) return before;
  const made = new ToldResult(textOf(message.content));
  told.set(message, made);
  return made;
}

/** `2,314 chars, 45 lines, exit code 1`. */
function sizeOf(text: string): string {
  const lines = text.split('\n').length;
  const exit = EXIT_CODE.exec(text)?.[1];
  return [
    `${text.length.toLocaleString('en-US')} chars`,
    lines > 1 ? `${lines} lines` : '',
    exit === undefined ? '' : `exit code ${exit}`,
    exit === undefined && FAILED.test(text) ? 'failed' : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** What is worth most first, then in the order of the text. */
function boundedFacts(found: readonly Fact[], label: string, mostTokens: number, count: CountText): string {
  const facts = found.filter((fact) => !label.includes(fact.text));
  const order = facts.map((fact, index) => ({ index, worth: fact.worth }));
  order.sort((a, b) => b.worth - a.worth || a.index - b.index);
  const chosen = new Set<number>();
  let left = mostTokens;
  for (const { index } of order) {
    const fact = facts[index];
    if (fact === undefined) continue;
    left -= count(`${fact.key} ${fact.text}`) + 1;
    if (left < 0) break;
    chosen.add(index);
  }
  return facts
    .filter((_, index) => chosen.has(index))
    .map(({ key, text: value }) => (key === '' ? value : `${key} ${value}`))
    .join(', ');
}
