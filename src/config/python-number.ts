/*
 * Numbers in text are read as Python's `int()` and `float()` read them: what was a valid environment for the
 * original plugin stays one.
 */

const DECIMAL_DIGIT = /\p{Nd}/u;
const INTEGER = /^[+-]?\d+(?:_\d+)*$/;
const FLOAT = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;
const NOT_FINITE = /^([+-]?)(inf|infinity|nan)$/i;
// Python's white space: unlike JavaScript's it has the separators 1C to 1F and 85, and not the byte order mark.
const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const ENDS = new RegExp(`^${SPACE}+|${SPACE}+$`, 'g');

/** `text` without white space at its ends. */
export function strip(text: string): string {
  return text.replace(ENDS, '');
}

/** The integer that `text` spells, rounded to a double beyond 2^53; `undefined` where it spells none. */
export function pythonInt(text: string): number | undefined {
  const plain = asciiDigits(strip(text));
  return INTEGER.test(plain) ? Number(plain.replaceAll('_', '')) : undefined;
}

/** The number that `text` spells, infinities and NaN included; `undefined` where it spells none. */
export function pythonFloat(text: string): number | undefined {
  const plain = asciiDigits(strip(text));
  if (FLOAT.test(plain)) return Number(plain.replaceAll('_', ''));
  const named = NOT_FINITE.exec(plain);
  if (named === null) return undefined;
  if (named[2]?.toLowerCase() === 'nan') return Number.NaN;
  return named[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

function asciiDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/** Unicode encodes decimal digits in contiguous runs of ten, zero first; neighbouring runs may touch. */
function digitValue(codePoint: number): number {
  let first = codePoint;
  while (DECIMAL_DIGIT.test(String.fromCodePoint(first - 1))) first -= 1;
  return (codePoint - first) % 10;
}
