const POSITIVE_INTEGER_LITERAL = /^[1-9][0-9]*$/;

/**
 * The cap that a raw JSON value states, read strictly: positive integer literals only; `undefined` for any other
 * value. A literal too large to be exact is read as the largest safe integer: no window comes near it.
 */
export function canonicalCap(text: string): number | undefined {
  return POSITIVE_INTEGER_LITERAL.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;
}
