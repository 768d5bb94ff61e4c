/**
 * Free text as a column keeps it: JSON, so that lone surrogates, which UTF-8 cannot tell apart, stay distinct. What is
 * a hash, a uid or JSON already needs none of it.
 */
export function toColumn(text: string): string {
  return JSON.stringify(text);
}

export function fromColumn(column: string): string {
  return JSON.parse(column) as string;
}
