import { JsonScanner } from './json-scanner.js';
import type { Span } from './span.js';

const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;
const BACKSLASH = 0x5c;

/** One member of a JSON object, located in the bytes. */
export interface Member {
  /** The key after unescaping. */
  readonly key: string;
  /** From the key's opening quote to the end of the value. */
  readonly whole: Span;
  /** The key's token, quotes included. */
  readonly name: Span;
  readonly value: Span;
  /** Of an array with more than one element: the offset after its last comma. */
  readonly afterLastComma?: number | undefined;
}

export type ValueKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

const KIND_BY_FIRST_BYTE: Readonly<Record<string, ValueKind>> = {
  '{': 'object',
  '[': 'array',
  '"': 'string',
  t: 'boolean',
  f: 'boolean',
  n: 'null',
};

/** The kind of the valid JSON value that begins at `at`. */
export function valueKind(bytes: Buffer, at: number): ValueKind {
  return KIND_BY_FIRST_BYTE[String.fromCharCode(bytes[at] ?? 0)] ?? 'number';
}

/** The members of the object in `span`, which holds valid JSON. Of any other value: none. */
export function objectMembers(bytes: Buffer, span: Span): Member[] {
  if (valueKind(bytes, span.start) !== 'object') return [];
  return scanMembers(new JsonScanner(bytes), bytes, span.start)?.members ?? [];
}

/** The elements of the array in `span`, which holds valid JSON. Of any other value: none. */
export function arrayElements(bytes: Buffer, span: Span): Span[] {
  const elements: Span[] = [];
  if (valueKind(bytes, span.start) !== 'array') return elements;
  const scanner = new JsonScanner(bytes);
  let start = scanner.afterSpace(span.start + 1);
  while (start < span.end && bytes[start] !== CLOSE_ARRAY) {
    const end = scanner.endOfValue(start);
    if (end < 0) return elements;
    elements.push({ start, end });
    const next = scanner.afterSpace(end);
    start = bytes[next] === COMMA ? scanner.afterSpace(next + 1) : next;
  }
  return elements;
}

/** An object of which the beginning was read already, up to an element of one of its members. */
export interface OpenObject {
  /** The members before that one. */
  readonly members: readonly Member[];
  /** That member, as it was read. Only its beginning counts. */
  readonly open: Member;
  /** Behind the comma after that element. */
  readonly at: number;
}

/**
 * Locates the members of the object that begins at `start`, validating all of it; `undefined`: not JSON.
 * @param resume what was read of it already.
 */
export function scanMembers(
  scanner: JsonScanner,
  bytes: Buffer,
  start: number,
  resume?: OpenObject,
): { readonly members: Member[]; readonly end: number } | undefined {
  const members: Member[] = [...(resume?.members ?? [])];
  let open = resume;
  let at = open?.open.whole.start ?? scanner.afterSpace(start + 1);
  if (bytes[at] === CLOSE_OBJECT) return { members, end: at + 1 };
  for (;;) {
    const nameEnd = open?.open.name.end ?? scanner.endOfKey(at);
    const valueStart = nameEnd < 0 ? -1 : scanner.afterColon(nameEnd);
    const valueEnd = open
      ? scanner.endOfOpenArray(open.at)
      : valueStart < 0
        ? -1
        : scanner.endOfValue(valueStart);
    if (valueEnd < 0) return undefined;
    members.push({
      key: open?.open.key ?? keyText(bytes, at, nameEnd),
      whole: { start: at, end: valueEnd },
      name: { start: at, end: nameEnd },
      value: { start: valueStart, end: valueEnd },
      afterLastComma:
        bytes[valueStart] === OPEN_ARRAY && scanner.afterLastComma > valueStart
          ? scanner.afterLastComma
          : undefined,
    });
    open = undefined;
    const next = scanner.afterSpace(valueEnd);
    if (bytes[next] === CLOSE_OBJECT) return { members, end: next + 1 };
    if (bytes[next] !== COMMA) return undefined;
    at = scanner.afterSpace(next + 1);
  }
}

function keyText(bytes: Buffer, start: number, end: number): string {
  const token = bytes.subarray(start, end);
  if (token.includes(BACKSLASH)) return JSON.parse(token.toString('utf8'));
  return token.toString('utf8', 1, token.length - 1);
}
