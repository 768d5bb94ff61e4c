import { LRUCache } from 'lru-cache';

/** A count that the upstream's own usage is compared with. */
export interface ComparedCount {
  readonly model: string | undefined;
  /** Of `shapeOf`. */
  readonly shape: string;
  /** As the backend counted, before any correction. */
  readonly tokens: number;
}

export interface Corrected {
  readonly tokens: number;
  /** False while the count is known to be off by no constant: `tokens` are then as many as are likely at most. */
  readonly isCertain: boolean;
}

/** So many equal differences in a row are a rule of the server's, and not of one request. */
const TO_LEARN = 3;
/** So many right counts in a row, and what was off before is forgotten. */
const TO_FORGET = 8;
/** Models by shapes that are kept in mind. */
const MOST_KINDS = 512;

/** What is known of the counts of one model and shape. Tokens. */
interface Experience {
  /** What is added to each count. Never negative. */
  correction: number;
  isCertain: boolean;
  /** The largest difference since the count was last certain. */
  most: number;
  /** The last difference, and how often it came in a row. */
  last: number;
  times: number;
}

/**
 * Learns by how much counts differ from what the upstream reports with its answers, for each model and shape of
 * requests. A difference that is always the same and upward is added to further counts. A count is never lowered: the
 * server may render the next request of that shape in another way, and too many tokens do less harm than too few.
 */
export class CountDrift {
  readonly #kinds = new LRUCache<string, Experience>({ max: MOST_KINDS });

  /** The count as it is to be used. `margin`: at least so many tokens are added to one that is not certain to suffice. */
  corrected(count: ComparedCount, margin: number): Corrected {
    const known = this.#kinds.get(keyOf(count));
    if (known === undefined) return { tokens: count.tokens, isCertain: true };
    if (known.isCertain) return { tokens: count.tokens + known.correction, isCertain: true };
    return { tokens: count.tokens + (known.most > 0 ? Math.max(known.most, margin) : 0), isCertain: false };
  }

  /** @param reported the prompt tokens that the upstream reports. @returns the difference: above 0 the count was short. */
  note(count: ComparedCount, reported: number): number {
    const difference = reported - count.tokens;
    const key = keyOf(count);
    const known = this.#kinds.get(key);
    if (known !== undefined) this.#learn(key, known, difference);
    else if (difference !== 0) this.#kinds.set(key, doubt(difference));
    return difference;
  }

  #learn(key: string, known: Experience, difference: number): void {
    known.times = difference === known.last ? known.times + 1 : 1;
    known.last = difference;
    if (known.isCertain) {
      if (difference !== known.correction) {
        const most = Math.max(known.correction, difference);
        this.#kinds.set(key, { ...doubt(difference), most, times: known.times });
      }
      return;
    }
    known.most = Math.max(known.most, difference);
    if (difference === 0) {
      if (known.times >= TO_FORGET) this.#kinds.delete(key);
    } else if (difference > 0 && known.times >= TO_LEARN) {
      known.correction = difference;
      known.isCertain = true;
    }
  }
}

function doubt(difference: number): Experience {
  return { correction: 0, isCertain: false, most: Math.max(0, difference), last: difference, times: 1 };
}

function keyOf({ model, shape }: ComparedCount): string {
  return `${shape} ${model ?? ''}`;
}
