import { BOOKKEEPING, type Message } from './message.js';

type Pair = readonly [unknown, unknown];

/** True where both are the same JSON. The order of keys does not count, nor do members without a value. */
export function sameJson(a: unknown, b: unknown): boolean {
  return allSame([[a, b]]);
}

/** True where both messages say the same JSON, whatever their bookkeeping. */
export function sameMessage(a: Message, b: Message): boolean {
  if (a === b) return true;
  const pairs: Pair[] = [];
  return pushMembers(pairs, a, b, BOOKKEEPING) && allSame(pairs);
}

/** Nesting costs no call stack. */
function allSame(pairs: Pair[]): boolean {
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (Array.isArray(a) && Array.isArray(b)) {
      if (a.length !== b.length) return false;
      for (let i = 0; i < a.length; i += 1) pairs.push([a[i], b[i]]);
    } else if (!pushMembers(pairs, a, b)) return false;
  }
  return true;
}

const NONE: ReadonlySet<string> = new Set();

/** False where they are no objects, or not of the same members. */
function pushMembers(pairs: Pair[], a: unknown, b: unknown, ignored = NONE): boolean {
  if (!isObject(a) || !isObject(b)) return false;
  const membersOfB = new Map(members(b, ignored));
  const membersOfA = members(a, ignored);
  if (membersOfA.length !== membersOfB.size) return false;
  for (const [key, value] of membersOfA) {
    if (!membersOfB.has(key)) return false;
    pairs.push([value, membersOfB.get(key)]);
  }
  return true;
}

function members(object: object, ignored: ReadonlySet<string>): [string, unknown][] {
  return Object.entries(object).filter(([key, value]) => value !== undefined && !ignored.has(key));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
