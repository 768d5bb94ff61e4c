import type { LanguageShare } from './language-share.js';

/** Letters of a word that its first token covers. */
const COVERED_LETTERS = 4;
/** Tokens per further letter of a word that is too long for any language. */
const PER_LETTER_OF_LONG = 0.62;
const LONG = 24;
/** Tokens that a letter with a diacritic adds, and one of Vietnamese, whose words are common tokens. */
const PER_DIACRITIC = 1.1;
const PER_VIETNAMESE = 0.3;
/** Tokens per capital that stands before another capital: acronyms in names, base64. */
const PER_INNER_CAPITAL = 1;
/** Share of vowels in words of a language, and tokens per vowel that a word falls short of it. */
const VOWEL_SHARE = 0.36;
const PER_MISSING_VOWEL = 1.1;

const VOWELS = new Uint8Array(128);
for (const vowel of 'aeiouyAEIOUY') VOWELS[vowel.charCodeAt(0)] = 1;

/**
 * Tokens of the run of Latin letters from `start` to `end`, without those of its further letters: they depend
 * on the language and go to `language`. `camelCase` counts as two words.
 */
export function wordTokens(text: string, start: number, end: number, language: LanguageShare): number {
  const plain = plainTokens(text, start, end, language);
  if (plain !== undefined) return plain;
  let tokens = 0;
  let from = start;
  let previousIsCapital = true;
  for (let i = start; i < end; i += 1) {
    const isCapital = isAsciiCapital(text.charCodeAt(i));
    if (isCapital && !previousIsCapital) {
      tokens += partTokens(text, from, i, true, language);
      from = i;
    }
    previousIsCapital = isCapital;
  }
  language.addWord(text, start, end);
  return tokens + partTokens(text, from, end, from > start, language);
}

/** Most words are small letters of ASCII, but for the first one. `undefined`: this is none of them. */
function plainTokens(text: string, start: number, end: number, language: LanguageShare): number | undefined {
  const length = end - start;
  if (length > LONG) return undefined;
  const first = text.charCodeAt(start);
  if (first >= 0x80) return undefined;
  let vowels = VOWELS[first] as number;
  for (let i = start + 1; i < end; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80 || isAsciiCapital(unit)) return undefined;
    vowels += VOWELS[unit] as number;
  }
  language.addWord(text, start, end);
  const missing = length > COVERED_LETTERS + 1 ? Math.max(0, length * VOWEL_SHARE - vowels) : 0;
  language.addLetters(Math.max(0, length - COVERED_LETTERS));
  return 1 + missing * PER_MISSING_VOWEL;
}

function partTokens(
  text: string,
  start: number,
  end: number,
  isPart: boolean,
  language: LanguageShare,
): number {
  let capitals = 0;
  let vowels = 0;
  let extra = 0;
  for (let i = start; i < end; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) extra += isVietnamese(unit) ? PER_VIETNAMESE : PER_DIACRITIC;
    else if (VOWELS[unit] === 1) vowels += 1;
    if (isAsciiCapital(unit)) capitals += 1;
  }
  const length = end - start;
  if (capitals > 1 && capitals < length) extra += (capitals - 1) * PER_INNER_CAPITAL;
  if (isPart || length > COVERED_LETTERS + 1) {
    extra += Math.max(0, length * VOWEL_SHARE - vowels - extra) * PER_MISSING_VOWEL;
  }
  if (length > LONG) return length * PER_LETTER_OF_LONG + extra;
  language.addLetters(Math.max(0, length - COVERED_LETTERS));
  return 1 + extra;
}

function isAsciiCapital(unit: number): boolean {
  return unit >= 0x41 && unit <= 0x5a;
}

function isVietnamese(unit: number): boolean {
  return unit >= 0x1e00 || unit === 0x1a0 || unit === 0x1a1 || unit === 0x1af || unit === 0x1b0;
}
