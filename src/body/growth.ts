import { createHash, type Hash } from 'node:crypto';
import type { Member, OpenObject } from './members.js';

const OPEN_ARRAY = 0x5b;
/** Below this length reading on costs as much as reading anew. */
const SHORTEST_BYTES = 8192;

/**
 * Where an object changes from one body to the next, as a chat request does at the end of its `messages`: behind the
 * last comma of its longest array. Its last element may be another one in the next body.
 */
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
    const at = members[longest]?.afterLastComma;
    if (at === undefined) return undefined;
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

function spanAt(members: readonly Member[], i: number): Member['value'] {
  return (members[i] as Member).value;
}

function lengthOf(members: readonly Member[], i: number): number {
  const { start, end } = spanAt(members, i);
  return end - start;
}
