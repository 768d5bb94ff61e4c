/**
 * The threshold of a model: of the table's keys that occur in its name the longest decides, of several equally
 * long ones the first in the table; an empty key never does. Numeric strings and booleans count as numbers.
 * @throws TypeError where the value that decides is no number.
 */
export function resolveModelThreshold(
  model: string,
  table: ReadonlyMap<string, unknown>,
  fallback: number,
): number {
  let longest = 0;
  let threshold: unknown = fallback;
  for (const [key, value] of table) {
    const length = Array.from(key).length;
    if (length <= longest || !model.includes(key)) continue;
    longest = length;
    threshold = value;
  }
  return asNumber(threshold);
}

function asNumber(value: unknown): number {
  const isNumeric = typeof value === 'string' ? value.trim() !== '' : typeof value === 'boolean';
  const number = isNumeric ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) {
    throw new TypeError('a model threshold must be a number');
  }
  return number;
}
