import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { Growth } from './growth.js';
import { JsonScanner } from './json-scanner.js';
import { type Member, scanMembers } from './members.js';
import type { Span } from './span.js';

export type { Member } from './members.js';

const OPEN_OBJECT = 0x7b;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A JSON object whose bytes are kept: members are located, values are never re-serialised. */
export class RawObject {
  readonly #lastByKey: ReadonlyMap<string, Member>;

  private constructor(
    /** All bytes as they came, white space and a byte order mark around the object included. */
    readonly bytes: Buffer,
    /** From the opening brace to after the closing one. */
    readonly span: Span,
    /** In the order of the bytes, duplicates included. */
    readonly members: readonly Member[],
    /** True if any key, at any depth, is spelled with an escape. */
    readonly hasEscapedKey: boolean,
    private readonly growth: Growth | undefined,
  ) {
    this.#lastByKey = new Map(members.map((member) => [member.key, member]));
  }

  /** The object that these bytes hold; `undefined`: they are no JSON, or no object. */
  static parse(bytes: Buffer): RawObject | undefined {
    const body = readBody(bytes);
    return body.kind === 'object' ? body.object : undefined;
  }

  /**
   * Locates the members of the object at `start`; `undefined`: what begins there is not JSON, or not alone.
   * @param known an object of which these bytes repeat the beginning, up to `known.growth.at`.
   */
  static locate(bytes: Buffer, start: number, known?: RawObject): RawObject | undefined {
    const scanner = new JsonScanner(bytes);
    const grown = known?.growth;
    const located = scanMembers(scanner, bytes, start, grown);
    if (located === undefined || scanner.afterSpace(located.end) !== bytes.length) return undefined;
    const hasEscapedKey = scanner.sawEscapedKey || known?.hasEscapedKey === true;
    const growth = Growth.of(bytes, located.members, grown);
    return new RawObject(bytes, { start, end: located.end }, located.members, hasEscapedKey, growth);
  }

  /** Up to where a later body may repeat this one for both to share what was read; 0: nowhere. */
  get sharedLength(): number {
    return this.growth?.at ?? 0;
  }

  has(key: string): boolean {
    return this.#lastByKey.has(key);
  }

  /** The last member of that name, the one that counts. */
  member(key: string): Member | undefined {
    return this.#lastByKey.get(key);
  }

  /** The value's bytes; of duplicates the last counts, as in Python. */
  raw(key: string): Buffer | undefined {
    const member = this.#lastByKey.get(key);
    return member && this.bytes.subarray(member.value.start, member.value.end);
  }

  /** The value's raw JSON text. */
  text(key: string): string | undefined {
    return this.raw(key)?.toString('utf8');
  }

  /** SHA-256 of the value's bytes, in base64url. What was hashed for an object that this one grew from is not again. */
  digest(key: string): string | undefined {
    const member = this.#lastByKey.get(key);
    if (member === undefined) return undefined;
    if (member === this.growth?.open) return this.growth.digest(this.bytes);
    return hash('sha256', this.bytes.subarray(member.value.start, member.value.end), 'base64url');
  }

  /** The value, parsed with `JSON.parse`: to read, never to write. */
  value(key: string): unknown {
    const text = this.text(key);
    return text === undefined ? undefined : JSON.parse(text);
  }
}

export type RawBody =
  | { readonly kind: 'not_json' }
  /** JSON, but not an object. */
  | { readonly kind: 'other' }
  | { readonly kind: 'object'; readonly object: RawObject };

/**
 * Reads a request body: strict JSON (RFC 8259) in valid UTF-8. A leading byte order mark is skipped, because
 * vLLM accepts one. Nesting may be of any depth.
 * @param known an object whose first `sharedLength` bytes are those of this body.
 */
export function readBody(bytes: Buffer, known?: RawObject): RawBody {
  if (!isUtf8(bytes)) return { kind: 'not_json' };
  const scanner = new JsonScanner(bytes);
  const start = scanner.afterSpace(startsWithMark(bytes) ? BYTE_ORDER_MARK.length : 0);
  if (bytes[start] === OPEN_OBJECT) {
    const object = RawObject.locate(bytes, start, known);
    return object ? { kind: 'object', object } : { kind: 'not_json' };
  }
  const end = scanner.endOfValue(start);
  return { kind: end >= 0 && scanner.afterSpace(end) === bytes.length ? 'other' : 'not_json' };
}

function startsWithMark(bytes: Buffer): boolean {
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
}
