import type { Message } from '../../conversation/message.js';
import { isDirective, sentencesOf } from './excerpt.js';
import { identifiersIn, saysMore, type Worth } from './identifiers.js';
import type { SourcedFact } from './ledger.js';
import { oneLine, textOf } from './message-text.js';
import { parseJson } from './record-facts.js';
import { ToldResult, withoutOwnNotes } from './tool-line.js';

/** Longer sentences give the words around what they name. */
const LONGEST_ABOUT = 160;
const WORDS_AROUND = 60;

/** What a person said outlives what a tool printed; moments and timings of logs go first. */
const WORTH: Readonly<
  Record<'user' | 'assistant' | 'record' | 'text' | 'log', Readonly<Record<Worth, number>>>
> = {
  user: { 0: 0, 1: 3, 2: 6, 3: 6 },
  assistant: { 0: 0, 1: 2, 2: 5, 3: 5 },
  record: { 0: 0, 1: 1, 2: 2, 3: 4 },
  text: { 0: 0, 1: 1, 2: 2, 3: 3 },
  log: { 0: 0, 1: 0, 2: 0, 3: 2 },
};

/** From here on an entry is what somebody said, or what stands out of a log. */
export const SAID = 5;
/** What is to hold has no other form than its words; ids outlive the words around them. */
const WISHED = 7;
/** From here on it names one thing. */
export const NAMING = 3;

const WISH = /\b(?:remember|always|never|from\s+now\s+on|decided|agreed|at\s+all\s+times)\b/i;
/** Shown where there is room: it may be meant for this once only. */
const LIKELY = NAMING - 0.5;
/** What may be meant for this once only, in the languages that users write most. */
const LIKELY_WISH = new RegExp(
  [
    String.raw`\b(?:prefer|avoid|instead\s+of|no\s+longer|my\s+name\s+is|deadline|budget|do\s+not|don['’]t|must|should(?:\s+not|n['’]t)|may\s+not|stop)\b`,
    String.raw`^\W*(?:please\s+)?(?:use|keep|make\s+sure|ensure|call\s+me|answer|reply|write|only|no)\b`,
    String.raw`\b(?:immer|nie(?:mals)?|ab\s+(?:jetzt|sofort)|bevorzuge|vermeide|nicht|keine?n?|toujours|jamais|siempre|nunca|sempre)\b`,
    String.raw`\bne\s+\S+\s+pas\b|désormais|必ず|いつも|常に|決して|ないで|总是|始终|永远|不要|必须|务必|항상|절대`,
  ].join('|'),
  'iu',
);

const LOG_LINE = /^\W*(?:\d{4}-\d{2}-\d{2}[T ])?\d{2}:\d{2}:\d{2}\b|^\W*(?:DEBUG|INFO|WARN|ERROR|TRACE)\b/;

/** What a person says exactly, each in the words that it was said in. */
export function saidFacts({ role, content }: Message): readonly SourcedFact[] {
  const by = role === 'user' ? 'user' : 'assistant';
  const text = textOf(content);
  if (parseJson(text) !== undefined) return recordFacts(text);
  return sentencesOf(text).flatMap((sentence) => [
    ...saidIn(sentence, WORTH[by]),
    ...(by === 'user' ? wishIn(sentence) : []),
  ]);
}

/** What a tool was called with. */
export function recordFacts(text: string): readonly SourcedFact[] {
  return resultFacts(new ToldResult(text));
}

/** What a tool returned. */
export function resultFacts(told: ToldResult): readonly SourcedFact[] {
  const text = withoutOwnNotes(told.text);
  if (parseJson(text) !== undefined) {
    return told.facts.map((fact) => ({ ...fact, worth: WORTH.record[fact.worth] }));
  }
  const lines = text.split('\n');
  const logged = lines.filter((line) => LOG_LINE.test(line)).length;
  if (logged < 2 || logged * 2 < lines.length) {
    return told.facts.map((fact) => ({ ...fact, worth: WORTH.text[fact.worth] }));
  }
  return lines.flatMap((line) => (LOG_LINE.test(line) ? loggedIn(line) : saidIn(line, WORTH.assistant)));
}

/** What is to hold from now on, whether it names anything or not. */
function wishIn(sentence: string): readonly SourcedFact[] {
  const isWish = WISH.test(sentence);
  if (!isWish && !LIKELY_WISH.test(sentence)) return [];
  const text = oneLine(sentence);
  if (text.length > LONGEST_ABOUT || isDirective(text)) return [];
  return [{ text, key: '', worth: isWish ? WISHED : LIKELY, about: text }];
}

function loggedIn(line: string): readonly SourcedFact[] {
  return identifiersIn(line).map(({ text, worth }) => ({ text, key: '', worth: WORTH.log[worth] }));
}

function saidIn(sentence: string, worths: Readonly<Record<Worth, number>>): readonly SourcedFact[] {
  const found = identifiersIn(sentence).filter(({ worth }) => worth > 0);
  return found.map(({ text, worth }) => ({
    text,
    key: '',
    worth: worths[worth],
    about: isDirective(sentence) || !saysMore(sentence, text) ? '' : aboutOf(sentence, text),
  }));
}

function aboutOf(sentence: string, text: string): string {
  const whole = oneLine(sentence).replace(/^[-*] /, '');
  if (whole.length <= LONGEST_ABOUT) return whole;
  const at = whole.indexOf(text);
  if (at < 0) return '';
  const before = whole.slice(Math.max(0, at - WORDS_AROUND), at).replace(/^\S*\s/, '');
  const after = whole.slice(at + text.length, at + text.length + WORDS_AROUND).replace(/\s\S*$/, '');
  return `${before}${text}${after}`.trim();
}
