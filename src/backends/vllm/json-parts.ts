/** Raw JSON, put together. */
export function joined(...parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

export function listOf(values: readonly Buffer[]): Buffer {
  return joined('[', separated(values), ']');
}

export function separated(values: readonly Buffer[]): Buffer {
  return joined(...values.flatMap((value, i) => (i === 0 ? [value] : [',', value])));
}
