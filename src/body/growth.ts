import { createHash, type Hash } from 'node:crypto';
import type { Member, OpenObject } from './members.js';

const OPEN_ARRAY = 0x5b;
const CLOSE_OBJECT = 0x7d;
/** Below this length reading on costs as much as reading anew. */
const SHORTEST_BYTES = 8192;

/** Where an object grows, as a chat request does with its `messages`: behind the last element of its longest array. */
export class Growth implements OpenObject {
  #hashed: Hash | undefined;

  private constructor(
    readonly members: readonly Member[],
    readonly open: Member,
    readonly at: number,
    /** The hash of the open value up to an earlier `at`. */
    private readonly base: { readonly at: number; readonly hashed: Hash } | undefined,
  ) {}

  /** `undefined`: the object is short, or nothing in it can be read on from. */
  static of(bytes: Buffer, members: readonly Member[], earlier: Growth | undefined): Growth | undefined {
    let longest = -1;
    for (let i = 0; i < members.length; i += 1) {
      if (bytes[spanAt(members, i).start] !== OPEN_ARRAY) continue;
      if (longest < 0 || lengthOf(members, i) > lengthOf(members, longest)) longest = i;
    }
    if (longest < 0 || lengthOf(members, longest) < SHORTEST_BYTES) return undefined;
    const at = behindLastElement(bytes, members[longest] as Member);
    // An element that ends otherwise may go on in the next body: after `[1` comes `[12`.
    if (bytes[at - 1] !== CLOSE_OBJECT) return undefined;
    const hashed = earlier?.members.length === longest ? earlier.#hashed : undefined;
    const base = earlier && hashed && { at: earlier.at, hashed };
    return new Growth(members.slice(0, longest), members[longest] as Member, at, base);
  }

  /** SHA-256 of the open value, in base64url. */
  digest(bytes: Buffer): string {
    const { start, end } = this.open.value;
    if (this.#hashed === undefined) {
      const begun = this.base?.hashed.copy() ?? createHash('sha256');
      this.#hashed = begun.update(bytes.subarray(this.base?.at ?? start, this.at));
    }
    return this.#hashed.copy().update(bytes.subarray(this.at, end)).digest('base64url');
  }
}

function behindLastElement(bytes: Buffer, { value }: Member): number {
  let at = value.end - 1;
  while ((bytes[at - 1] as number) <= 0x20) at -= 1;
  return at;
}

function spanAt(members: readonly Member[], i: number): Member['value'] {
  return (members[i] as Member).value;
}

function lengthOf(members: readonly Member[], i: number): number {
  const { start, end } = spanAt(members, i);
  return end - start;
}
