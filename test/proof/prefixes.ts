import { RawObject } from '../../src/body/raw-object.js';
import { PrefixCache } from '../../src/simulator/prefix-cache.js';
import type { Upstreamed } from './relay.js';

const CACHED_TOKENS = 4_000_000;

/** The share of the first prompt's tokens with which the second one begins. */
export function commonShare(before: readonly number[], after: readonly number[]): number {
  if (before.length === 0) return 1;
  const differs = before.findIndex((id, at) => after[at] !== id);
  return differs < 0 ? 1 : differs / before.length;
}

/** Tokens that a server would compute anew, with a prefix cache in blocks of 16 tokens that forgets nothing. */
export function uncachedTokens(prompts: readonly (readonly number[])[]): number {
  const cache = new PrefixCache(CACHED_TOKENS);
  let sum = 0;
  for (const ids of prompts) {
    sum += ids.length - cache.lookUp(ids);
    cache.store(ids);
  }
  return sum;
}

/** Whether the second request's messages begin with the bytes of all of the first one's. */
export function continues(before: Upstreamed, after: Upstreamed): boolean {
  const first = RawObject.parse(before.body)?.raw('messages');
  const second = RawObject.parse(after.body)?.raw('messages');
  if (first === undefined || second === undefined) return false;
  const open = first.subarray(0, -1);
  return second.length >= open.length && second.subarray(0, open.length).equals(open);
}
