import { arrayElements, objectMembers } from '../../body/members.js';
import { CountFailedError } from '../contract.js';

const NULL = 0x6e;
const QUOTE = 0x22;
const OPENING_BRACKET = 0x5b;

/** Members of one item or part, raw. */
export class RawFields {
  readonly #raw = new Map<string, Buffer>();

  constructor(bytes: Buffer) {
    for (const { key, value } of objectMembers(bytes, { start: 0, end: bytes.length })) {
      this.#raw.set(key, bytes.subarray(value.start, value.end));
    }
  }

  /** `undefined` where it is absent or null. */
  raw(name: string): Buffer | undefined {
    const raw = this.#raw.get(name);
    return raw === undefined || raw[0] === NULL ? undefined : raw;
  }

  /** The raw JSON string. @throws CountFailedError `unsupported` where there is none. */
  string(name: string): Buffer {
    return stringIn(this.raw(name));
  }

  /** The string's value, `undefined` where it is absent or null. @throws CountFailedError `unsupported` */
  text(name: string): string | undefined {
    return this.raw(name) === undefined ? undefined : JSON.parse(this.string(name).toString());
  }

  /** The elements of a list; none where it is absent. @throws CountFailedError `unsupported` */
  list(name: string): Buffer[] {
    const raw = this.raw(name);
    if (raw === undefined) return [];
    if (raw[0] !== OPENING_BRACKET) throw uncertain();
    return elementsOf(raw);
  }
}

/** The raw elements of a raw list. */
export function elementsOf(list: Buffer): Buffer[] {
  return arrayElements(list, { start: 0, end: list.length }).map(({ start, end }) =>
    list.subarray(start, end),
  );
}

/** It is not certain what the server makes of this. */
export function uncertain(): CountFailedError {
  return new CountFailedError('unsupported');
}

function stringIn(raw: Buffer | undefined): Buffer {
  if (raw?.[0] !== QUOTE) throw uncertain();
  return raw;
}
