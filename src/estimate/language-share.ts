/** Words that tell English, and code written in it, from other languages in Latin letters. */
const TELLING = new Set(
  (
    'the and that with this from for to of is you are not was were have it as by or be on at if ' +
    'can will all new get set name type value string error data file path true false null none ' +
    'return const let var import export class def self function async await else case test'
  ).split(' '),
);
const LONGEST = 8;
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
    if (end - start <= LONGEST && TELLING.has(text.slice(start, end))) this.#telling += 1;
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
