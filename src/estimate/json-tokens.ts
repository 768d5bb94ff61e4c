import type { TextTally } from './text-tokens.js';

/** Tokens of the quotes, the colon or the comma around one value. */
const PER_VALUE = 1.5;
/** Tokens of an opening and a closing bracket. */
const PER_CONTAINER = 2;

/** Adds a parsed JSON value, written out as JSON. Takes nesting of any depth; linear in its size. */
export function addJson(tally: TextTally, value: unknown): void {
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    tally.addTokens(PER_VALUE);
    if (typeof next === 'string') tally.add(next);
    else if (typeof next !== 'object' || next === null) tally.add(String(next));
    else addKeys(tally, next, pending);
  }
}

/** The values are left to the caller. */
function addKeys(tally: TextTally, container: object, pending: unknown[]): void {
  tally.addTokens(PER_CONTAINER);
  if (Array.isArray(container)) {
    for (const element of container) pending.push(element);
    return;
  }
  for (const [key, value] of Object.entries(container)) {
    tally.addTokens(PER_VALUE);
    tally.add(key);
    pending.push(value);
  }
}
