import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

export const blockTokens = 16;

/** Which prompt prefixes a server would still hold, in whole blocks, as vLLM's automatic prefix caching. */
export class PrefixCache {
  private readonly blocks: LRUCache<string, true>;

  constructor(capacityTokens: number) {
    this.blocks = new LRUCache({ max: Math.max(1, Math.ceil(capacityTokens / blockTokens)) });
  }

  /** Tokens of the prompt that need no computing; the last token always does. */
  lookUp(promptIds: readonly number[], salt = ''): number {
    let hits = 0;
    for (const key of blockKeys(promptIds.slice(0, -1), salt)) {
      if (!this.blocks.get(key)) break;
      hits += 1;
    }
    return hits * blockTokens;
  }

  /** Keeps the prompt and, where one was written, the answer behind it. */
  store(ids: readonly number[], salt = ''): void {
    for (const key of blockKeys(ids, salt)) this.blocks.set(key, true);
  }
}

/** One key for each whole block: a hash over it, all before it, and the salt. */
function* blockKeys(ids: readonly number[], salt: string): Generator<string> {
  const start = createHash('sha256').update(salt).digest();
  let low = start.readInt32LE(0);
  let high = start.readInt32LE(4);
  for (const [index, id] of ids.entries()) {
    low = Math.imul(low ^ id, 0x01000193);
    high = Math.imul(high + id, 0x85ebca6b) ^ (high >>> 13);
    if (index % blockTokens === blockTokens - 1) yield `${low >>> 0}:${high >>> 0}`;
  }
}
