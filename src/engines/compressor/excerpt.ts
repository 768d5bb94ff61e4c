import { clip } from './call-label.js';
import type { CountText } from './ledger-text.js';

const DIRECTIVE =
  /\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,40}\b(?:previous|prior|above|earlier|preceding|all|any|your|system)\b[^.!?\n]{0,40}\b(?:instruction|prompt|rule|message|guideline|direction)s?\b|\byou are now\b|\bnew instructions?\s*:|<\|im_(?:start|end)\|>|\[\/?INST\]/i;
const DECIDES =
  /\b(?:must|never|always|decid|prefer|require|deadline|because|important|remember|agreed|conclu|chose|instead|fixed|failed|error|cause|should not|don't|won't|only|note)/i;

/** Cheaper than looking for identifiers: every sentence of a long conversation is asked. Linear for words of any length. */
const NAMES_SOMETHING = /(?<!\S)\S*\d{2}\S*|\w_\w|[a-z][A-Z]|[A-Z]{2,}|@|:\/\/|[`"]|(?<=[a-z,] )[A-Z][a-z]+/g;

/** Text that gives orders to whoever reads it. */
export function isDirective(sentence: string): boolean {
  return DIRECTIVE.test(sentence);
}

export function withoutDirectives(text: string): string {
  if (!DIRECTIVE.test(text)) return text;
  return sentencesOf(text)
    .map((sentence) => (isDirective(sentence) ? ' [instruction-like text left out]' : sentence))
    .join('');
}

/** A text that is told shorter, as often as somebody asks: it is taken apart once. */
export class Excerpt {
  readonly #whole: string;
  #parts: Parts | undefined;

  constructor(text: string) {
    this.#whole = text.trim();
  }

  /**
   * What it says in at most so many tokens: itself where it fits, else its first sentence and those that name things
   * or decide something, in their order.
   */
  within(mostTokens: number, count: CountText): string {
    if (count(this.#whole) <= mostTokens) return this.#whole;
    this.#parts ??= partsOf(this.#whole);
    const { sentences, ranked } = this.#parts;
    const chosen = new Set<number>();
    let left = mostTokens;
    for (const index of ranked) {
      const cost = count(sentences[index] as string);
      if (cost > left) continue;
      left -= cost;
      chosen.add(index);
    }
    if (chosen.size === 0) return cut(sentences[0] ?? this.#whole, mostTokens, count);
    return joined(sentences, chosen);
  }
}

interface Parts {
  readonly sentences: readonly string[];
  /** Their places, those first that tell most. */
  readonly ranked: readonly number[];
}

function partsOf(text: string): Parts {
  const sentences = sentencesOf(text);
  // No directive crosses the end of a sentence.
  const mayDirect = isDirective(text);
  const scores = sentences.map((sentence, i) => scoreOf(sentence, i, sentences.length, mayDirect));
  const ranked = [...sentences.keys()].sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  return { sentences, ranked };
}

/** The beginning of a text, by tokens. */
export function cut(text: string, mostTokens: number, count: CountText): string {
  const size = count(text);
  if (size <= mostTokens) return text;
  let length = Math.floor((text.length * mostTokens) / size);
  while (length > 0 && count(clip(text, length)) > mostTokens) length = Math.floor(length * 0.85);
  return length === 0 ? '' : clip(text, length);
}

/** The beginning of a text up to the end of a line or sentence, by tokens. */
export function cutAtBorder(text: string, mostTokens: number, count: CountText): string {
  if (count(text) <= mostTokens) return text;
  let kept = '';
  let left = mostTokens;
  for (const sentence of sentencesOf(text)) {
    left -= count(sentence);
    if (left < 0) break;
    kept += sentence;
  }
  return kept === '' ? cut(text, mostTokens, count) : kept.trimEnd();
}

export function sentencesOf(text: string): readonly string[] {
  return (
    text
      .match(/[^\n.!?。！？]*(?:[.!?](?!\s)[^\n.!?。！？]*)*(?:[.!?]+(?=\s)\s?|[。！？]|\n+|$)/gu)
      ?.filter(Boolean) ?? [text]
  );
}

function scoreOf(sentence: string, index: number, total: number, mayDirect: boolean): number {
  const names = sentence.match(NAMES_SOMETHING)?.length ?? 0;
  const decides = DECIDES.test(sentence) ? 2 : 0;
  const place = index === 0 ? 3 : index === total - 1 ? 1 : 0;
  const directs = mayDirect && isDirective(sentence) ? 10 : 0;
  return Math.min(9, names * 4) + decides + place - directs - sentence.length / 400;
}

function joined(sentences: readonly string[], chosen: ReadonlySet<number>): string {
  let text = '';
  let last = -1;
  for (const [index, sentence] of sentences.entries()) {
    if (!chosen.has(index)) continue;
    text += (last >= 0 && index > last + 1 && !text.endsWith('... ') ? '... ' : '') + sentence;
    last = index;
  }
  return text.trim();
}
