import type { Span } from './span.js';

/** One member of a JSON object, located in the bytes. */
export interface Member {
  /** The key after unescaping. */
  readonly key: string;
  /** From the key's opening quote to the end of the value. */
  readonly whole: Span;
  readonly value: Span;
}

/** A JSON object whose bytes are kept: members are located, values are never re-serialised. */
export declare class RawObject {
  readonly bytes: Buffer;
  /** In the order of the bytes, duplicates included. */
  readonly members: readonly Member[];
  has(key: string): boolean;
  /** The value's bytes; of duplicates the last counts, as in Python. */
  raw(key: string): Buffer | undefined;
  /** The value's raw JSON text. */
  text(key: string): string | undefined;
  /** The value, parsed with `JSON.parse`: to read, never to write. */
  value(key: string): unknown;
}

export type RawBody =
  | { readonly kind: 'not_json' }
  /** JSON, but not an object. */
  | { readonly kind: 'other' }
  | { readonly kind: 'object'; readonly object: RawObject };

export declare function readBody(bytes: Buffer): RawBody;
