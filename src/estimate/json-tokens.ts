import { textTokens } from './text-tokens.js';

/** Tokens of the quotes, the colon or the comma around one value. */
const PER_VALUE = 1.5;
/** Tokens of an opening and a closing bracket. */
const PER_CONTAINER = 2;

/** Tokens of a parsed JSON value, written out as JSON, about. Takes nesting of any depth; linear in its size. */
export function jsonTokens(value: unknown): number {
  let tokens = 0;
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    tokens += PER_VALUE;
    if (typeof next === 'string') tokens += textTokens(next);
    else if (typeof next !== 'object' || next === null) tokens += textTokens(String(next));
    else tokens += PER_CONTAINER + membersTokens(next, pending);
  }
  return tokens;
}

/** Tokens of the keys; the values are left to the caller. */
function membersTokens(container: object, pending: unknown[]): number {
  if (Array.isArray(container)) {
    for (const element of container) pending.push(element);
    return 0;
  }
  let tokens = 0;
  for (const [key, value] of Object.entries(container)) {
    tokens += PER_VALUE + textTokens(key);
    pending.push(value);
  }
  return tokens;
}
