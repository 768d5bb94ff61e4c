import { JsonScanner } from '../body/json-scanner.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export interface MembersAtEnd {
  /** Members of the object itself whose keys are in the bytes. */
  readonly members: object;
  /** Those of its member that is cut at the start of the bytes, where that is an object; its key is not known. */
  readonly cut: object | undefined;
}

/**
 * Reads the end of one JSON object (RFC 8259) of which the beginning may be missing. It walks from the last byte back,
 * where every quote and bracket has but one meaning: what stands deeper, or in a string, is never taken for a member.
 * `undefined`: no end of an object. @throws SyntaxError
 */
export function membersAtEnd(bytes: Buffer): MembersAtEnd | undefined {
  const last = endOfText(bytes) - 1;
  if (bytes[last] !== CLOSE_OBJECT) return undefined;
  const scanner = new JsonScanner(bytes);
  const members = new Map<string, unknown>();
  let inner = new Map<string, unknown>();
  let depth = 1;
  for (let at = last - 1; at >= 0 && depth > 0; at -= 1) {
    const byte = bytes[at];
    if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth += 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth -= 1;
      if (depth === 1) inner = new Map();
    } else if (byte === QUOTE) {
      const start = startOfString(bytes, at);
      if (start < 0) break;
      if (depth <= 2) keepMember(scanner, bytes, [start, at + 1], depth === 1 ? members : inner);
      at = start;
    }
  }
  return { members: Object.fromEntries(members), cut: depth >= 2 ? Object.fromEntries(inner) : undefined };
}

function endOfText(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] as number) <= 0x20) end -= 1;
  return end;
}

/** No string begins after a backslash, and every quote inside one stands after one. -1: it begins before the bytes. */
function startOfString(bytes: Buffer, closing: number): number {
  let at = closing;
  do at = at > 0 ? bytes.lastIndexOf(QUOTE, at - 1) : -1;
  while (at > 0 && bytes[at - 1] === BACKSLASH);
  // Of a quote at the very start nobody knows what stood before it.
  return at > 0 ? at : -1;
}

/** Of members of the same name the last one holds, as in `JSON.parse`. */
function keepMember(
  scanner: JsonScanner,
  bytes: Buffer,
  [start, end]: readonly [start: number, end: number],
  into: Map<string, unknown>,
): void {
  const value = scanner.afterColon(end);
  if (value < 0) return;
  const name = String(JSON.parse(bytes.toString('utf8', start, end)));
  if (!into.has(name)) into.set(name, JSON.parse(bytes.toString('utf8', value, scanner.endOfValue(value))));
}
