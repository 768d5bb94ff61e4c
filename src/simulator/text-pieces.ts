/**
 * Where Qwen3's tokenizer always begins a new word, whatever stands around: between a letter and a blank or a mark of
 * punctuation, between a line's end and a letter, before a digit. Other places depend on what follows.
 */
const boundary = /\p{L}(?=[\s.,;:!?()，。、！？；：])|\n(?=[A-Za-z])|[A-Za-z0-9](?=[0-9])/gu;

/** Cuts a text where its tokens stay the same, into pieces of about this size; a long word stays whole. */
export function* textPieces(text: string, size: number): Generator<string> {
  let start = 0;
  while (text.length - start > size) {
    boundary.lastIndex = start + size - 1;
    const end = boundary.exec(text) === null ? text.length : boundary.lastIndex;
    yield text.slice(start, end);
    start = end;
  }
  if (start < text.length) yield text.slice(start);
}
