/** A range of bytes: `start` inclusive, `end` exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Puts `text` in the place of the bytes in `span`. */
export interface Replacement {
  readonly span: Span;
  readonly text: string | Buffer;
}

/**
 * The bytes with every replacement made; all other bytes stay. The replacements are in the order of the bytes
 * and do not overlap. Without any the same Buffer comes back.
 */
export function splice(bytes: Buffer, replacements: readonly Replacement[]): Buffer {
  if (replacements.length === 0) return bytes;
  const parts: Buffer[] = [];
  let kept = 0;
  for (const { span, text } of replacements) {
    parts.push(bytes.subarray(kept, span.start), typeof text === 'string' ? Buffer.from(text) : text);
    kept = span.end;
  }
  parts.push(bytes.subarray(kept));
  return Buffer.concat(parts);
}
