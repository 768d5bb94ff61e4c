const INTEGER = /^-?\d+$/;
const LOWEST_INT64 = -(2n ** 63n);
const HIGHEST_UINT64 = 2n ** 64n - 1n;
const HIGHEST_INT32 = 2 ** 31 - 1;
/** 64-bit integers have twenty digits; anything longer is read as a floating-point number. */
const MOST_DIGITS = 21;

/**
 * The positive cap that llama.cpp reads from a raw JSON value: what is behind the point falls away, `true` and `false`
 * are 1 and 0, a 64-bit integer keeps its lower 32 bits, and 0 generates one token. `undefined` for what it refuses
 * (`"8"`, -2, 1e12), and for -1 and null, which set no limit.
 */
export function readLlamacppCap(text: string): number | undefined {
  const value = asInt32(text);
  if (value === undefined || value < 0) return undefined;
  return Math.max(value, 1);
}

function asInt32(text: string): number | undefined {
  if (text === 'true') return 1;
  if (text === 'false') return 0;
  if (!/^-?\d/.test(text)) return undefined;
  if (INTEGER.test(text) && text.length <= MOST_DIGITS) {
    const value = BigInt(text);
    if (value >= LOWEST_INT64 && value <= HIGHEST_UINT64) return Number(BigInt.asIntN(32, value));
  }
  const value = Math.trunc(Number(text));
  return Math.abs(value) <= HIGHEST_INT32 ? value + 0 : undefined;
}
