/** How many digits Python and pydantic read from text at most. */
const MAX_DIGITS = 4300;
/** Single underscores between digits, and a fraction of zeros only. */
const INTEGER_TEXT = /^([+-]?)(\d+(?:_\d+)*)(?:\.0+)?$/;

/**
 * The integer that pydantic's lax mode reads from a raw JSON value: `2048`, `2048.0`, `2.048e3`, `true`,
 * `"2048"`, `" +2_048.0 "`. `undefined` for everything that it refuses. Values beyond the safe integers
 * are brought to their nearest end: they are only compared with context lengths.
 */
export function readLaxInt(text: string): number | undefined {
  if (text === 'true') return 1;
  if (text === 'false') return 0;
  if (text.startsWith('"')) return readIntegerText(JSON.parse(text));
  if (!/^-?\d/.test(text)) return undefined;
  const value = Number(text);
  return Number.isInteger(value) ? safe(value) : undefined;
}

/** The positive cap that vLLM reads from a raw JSON value, `undefined` for any other value. */
export function readVllmCap(text: string): number | undefined {
  const value = readLaxInt(text);
  return value !== undefined && value > 0 ? value : undefined;
}

function readIntegerText(text: string): number | undefined {
  const match = INTEGER_TEXT.exec(text.trim());
  const digits = match?.[2]?.replaceAll('_', '');
  if (digits === undefined || digits.length > MAX_DIGITS) return undefined;
  return safe(Number(`${match?.[1]}${digits}`));
}

function safe(value: number): number {
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER) + 0;
}
