export type Fields = Readonly<Record<string, unknown>>;

/** The members of an object beside those of these names; `undefined` where there are none. */
export function membersBeside(fields: Fields, names: readonly string[]): Fields | undefined {
  const others = Object.entries(fields).filter(([name]) => !names.includes(name));
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

/** What all of a list become; `undefined` where one becomes nothing. */
export function mapAll<In, Out>(list: readonly In[], map: (one: In) => Out | undefined): Out[] | undefined {
  const mapped: Out[] = [];
  for (const one of list) {
    const out = map(one);
    if (out === undefined) return undefined;
    mapped.push(out);
  }
  return mapped;
}

/** The elements of a message's content, a text as one of them. */
export function partsOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}
