/** Words that tell English, and code written in it, from other languages in Latin letters. */
const TELLING = (
  'the and that with this from for to of is you are not was were have it as by or be on at if ' +
  'can will all new get set name type value string error data file path true false null none ' +
  'return const let var import export class def self function async await else case test'
).split(' ');
/** The same by their length and first letter: few words have to be compared. */
const TELLING_BY_START: readonly string[][] = Array.from({ length: 9 * 32 }, () => []);
for (const word of TELLING) TELLING_BY_START[startOf(word, 0, word.length)]?.push(word);
/** Up to this share of telling words a text counts as another language; from the second on as English. */
const OTHER_SHARE = 0.02;
const ENGLISH_SHARE = 0.09;
/** Tokens per letter of a word beyond those that its first token covers. */
const PER_LETTER_OF_OTHER = 0.48;
const PER_LETTER_OF_ENGLISH = 0.16;
/** Words after which the language is judged anew: a text may quote another one. */
const WORDS_PER_JUDGEMENT = 100;

/** Adds up the further letters of words, and judges by the words among them how many tokens they are. */
export class LanguageShare {
  #words = 0;
  #telling = 0;
  #letters = 0;
  #tokens = 0;

  addLetters(letters: number): void {
    this.#letters += letters;
  }

  addWord(text: string, start: number, end: number): void {
    this.#words += 1;
    if (isTelling(text, start, end)) this.#telling += 1;
    if (this.#words >= WORDS_PER_JUDGEMENT) this.#judge();
  }

  /** All further letters so far, in tokens. */
  tokens(): number {
    if (this.#words > 0) this.#judge();
    return this.#tokens;
  }

  #judge(): void {
    const share = (this.#telling / this.#words - OTHER_SHARE) / (ENGLISH_SHARE - OTHER_SHARE);
    const english = Math.min(1, Math.max(0, share));
    const perLetter = PER_LETTER_OF_OTHER + english * (PER_LETTER_OF_ENGLISH - PER_LETTER_OF_OTHER);
    this.#tokens += this.#letters * perLetter;
    this.#words = 0;
    this.#telling = 0;
    this.#letters = 0;
  }
}

function startOf(text: string, start: number, end: number): number {
  const letter = text.charCodeAt(start) - 0x60;
  return letter > 0 && letter < 32 ? (end - start) * 32 + letter : -1;
}

function isTelling(text: string, start: number, end: number): boolean {
  const words = TELLING_BY_START[startOf(text, start, end)];
  if (words === undefined) return false;
  for (const word of words) if (text.startsWith(word, start)) return true;
  return false;
}
