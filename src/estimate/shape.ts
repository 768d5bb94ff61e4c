export type Fields = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** A message in front of the others, where there is something to say. */
export function systemMessage(content: unknown): readonly unknown[] {
  return content === undefined || content === null || content === '' ? [] : [{ role: 'system', content }];
}
