import { LanguageShare } from './language-share.js';
import { tokensOfUnit } from './script-costs.js';
import { wordTokens } from './word-tokens.js';

const SPACE = 0x20;
const TAB = 0x09;

const PER_OTHER_PUNCTUATION = 0.6;
const PER_SAME_PUNCTUATION = 0.3;
const PER_DIGIT = 1;
/** Letters between digits are hexadecimal, base64 or a code: they rarely form a common token. */
const PER_LETTER_AMONG_DIGITS = 0.2;
/** A run of letters of a script other than Latin begins a token of its own. */
const PER_RUN = 0.3;
/** White space runs are single tokens up to about this many characters. */
const LONG_BLANK = 16;

type Kind = 'blank' | 'newline' | 'letter' | 'digit' | 'punctuation' | 'other';

const ASCII_KINDS: readonly Kind[] = Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return 'letter';
  if (/[0-9]/.test(character)) return 'digit';
  if (/[\r\n]/.test(character)) return 'newline';
  return /\s/.test(character) ? 'blank' : 'punctuation';
});

/**
 * Counts the tokens of texts, about: pieced like the pre-tokenizers of GPT-4, Llama 3 and Qwen, with average
 * costs per piece that lean to the high side. Linear in the length of the texts.
 */
export class TextTally {
  readonly #language = new LanguageShare();
  #tokens = 0;

  add(text: string): void {
    let at = 0;
    while (at < text.length) {
      const kind = kindOf(text.charCodeAt(at));
      let end = at + 1;
      while (end < text.length && kindOf(text.charCodeAt(end)) === kind) end += 1;
      if (kind === 'letter') this.#addWord(text, at, end);
      else this.#tokens += runTokens(kind, text, at, end);
      at = end;
    }
  }

  /** Tokens that stand between the texts. */
  addTokens(tokens: number): void {
    this.#tokens += tokens;
  }

  tokens(): number {
    return this.#tokens + this.#language.tokens();
  }

  #addWord(text: string, start: number, end: number): void {
    this.#tokens += wordTokens(text, start, end, this.#language);
    if (touchesDigit(text, start, end)) this.#tokens += (end - start - 1) * PER_LETTER_AMONG_DIGITS;
  }
}

function touchesDigit(text: string, start: number, end: number): boolean {
  const isDigitAt = (at: number) => at >= 0 && at < text.length && kindOf(text.charCodeAt(at)) === 'digit';
  return isDigitAt(start - 1) || isDigitAt(end);
}

function kindOf(unit: number): Kind {
  if (unit < 0x80) return ASCII_KINDS[unit] as Kind;
  return isLatinLetter(unit) ? 'letter' : 'other';
}

function isLatinLetter(unit: number): boolean {
  if (unit < 0x250) return unit >= 0xc0 && unit !== 0xd7 && unit !== 0xf7;
  return unit >= 0x1e00 && unit <= 0x1eff;
}

function runTokens(kind: Exclude<Kind, 'letter'>, text: string, start: number, end: number): number {
  switch (kind) {
    case 'digit':
      return (end - start) * PER_DIGIT;
    case 'punctuation':
      return punctuationTokens(text, start, end);
    case 'newline':
      return 1 + (end - start) / LONG_BLANK;
    case 'blank':
      return blankTokens(text, start, end);
    case 'other':
      return otherTokens(text, start, end);
  }
}

/** A single space goes with the word or sign after it, but not with a digit. */
function blankTokens(text: string, start: number, end: number): number {
  const length = end - start;
  const beforeDigit = end < text.length && kindOf(text.charCodeAt(end)) === 'digit';
  const goesAlong = text.charCodeAt(end - 1) === SPACE && end < text.length && !beforeDigit;
  if (length === 1) return goesAlong ? 0 : 1;
  return 1 + (beforeDigit ? 1 : 0) + (length * (text.charCodeAt(start) === TAB ? 2 : 1)) / (LONG_BLANK * 4);
}

function punctuationTokens(text: string, start: number, end: number): number {
  let tokens = 1;
  for (let i = start + 1; i < end; i += 1) {
    const isSame = text.charCodeAt(i) === text.charCodeAt(i - 1);
    tokens += isSame ? PER_SAME_PUNCTUATION : PER_OTHER_PUNCTUATION;
  }
  return tokens;
}

function otherTokens(text: string, start: number, end: number): number {
  let tokens = PER_RUN;
  for (let i = start; i < end; i += 1) tokens += tokensOfUnit(text.charCodeAt(i));
  return tokens;
}
