import { LRUCache } from 'lru-cache';

/** A count that the upstream's own usage is compared with. */
export interface ComparedCount {
  /** Whose request it is: what one caller's answers teach changes no other's counts. */
  readonly caller: string | undefined;
  readonly model: string | undefined;
  /** Of `shapeOf`. */
  readonly shape: string;
  /** As the backend counted, before any correction. */
  readonly tokens: number;
  /** Of the model. Tokens. */
  readonly contextLength: number;
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
/** After so long without a comparison all is forgotten: where requests are refused, no usage tells better. */
const KEPT_MS = 10 * 60_000;
/** A larger part of the context length is never added: no template is as long. */
const LARGEST_SHARE = 1 / 8;
/** Callers by models by shapes that are kept in mind. */
const MOST_KINDS = 4096;

/** What is known of the counts of one caller, model and shape. Tokens. */
interface Experience {
  /** What is added to each count. Never negative. */
  correction: number;
  isCertain: boolean;
  /** The largest difference since the count was last certain. */
  most: number;
  /** The last difference, and how often it came in a row. */
  last: number;
  times: number;
  /** When it was last compared, in milliseconds of `now`. */
  at: number;
}

/**
 * Learns by how much counts differ from what the upstream reports with its answers, for each caller, model and shape of
 * requests. A difference that is always the same and upward is added to further counts. A count is never lowered: the
 * server may render the next request of that shape in another way, and too many tokens do less harm than too few.
 */
export class CountDrift {
  readonly #kinds = new LRUCache<string, Experience>({ max: MOST_KINDS });

  /** @param now milliseconds of a clock that never goes back. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * The count as it is to be used. `margin`: at least so many tokens are added to one that is not certain to suffice.
   * Where it would no longer fit the context, nothing is added: the upstream is to say whether it fits.
   */
  corrected(count: ComparedCount, margin: number): Corrected {
    const known = this.#known(keyOf(count));
    if (known === undefined) return { tokens: count.tokens, isCertain: true };
    const { isCertain, correction, most } = known;
    const tokens = count.tokens + (isCertain ? correction : most > 0 ? Math.max(most, margin) : 0);
    if (tokens <= count.contextLength) return { tokens, isCertain };
    return { tokens: count.tokens, isCertain: isCertain && count.tokens > count.contextLength };
  }

  /**
   * @param reported the prompt tokens that the upstream reports.
   * @returns the difference: above 0 the count was short. `undefined`: no prompt of this model is as long.
   */
  note(count: ComparedCount, reported: number): number | undefined {
    if (reported > count.contextLength) return undefined;
    const difference = reported - count.tokens;
    const key = keyOf(count);
    const known = this.#known(key);
    const largest = Math.floor(count.contextLength * LARGEST_SHARE);
    if (known !== undefined) this.#learn(key, known, difference, largest);
    else if (difference !== 0) this.#kinds.set(key, this.#doubt(difference, largest));
    return difference;
  }

  #known(key: string): Experience | undefined {
    const known = this.#kinds.get(key);
    if (known === undefined || this.now() - known.at < KEPT_MS) return known;
    this.#kinds.delete(key);
    return undefined;
  }

  #learn(key: string, known: Experience, difference: number, largest: number): void {
    known.at = this.now();
    known.times = difference === known.last ? known.times + 1 : 1;
    known.last = difference;
    if (known.isCertain) {
      if (difference !== known.correction) {
        const doubt = this.#doubt(difference, largest);
        const most = Math.max(known.correction, doubt.most);
        this.#kinds.set(key, { ...doubt, most, times: known.times });
      }
      return;
    }
    known.most = Math.max(known.most, Math.min(difference, largest));
    if (difference === 0) {
      if (known.times >= TO_FORGET) this.#kinds.delete(key);
    } else if (difference > 0 && difference <= largest && known.times >= TO_LEARN) {
      known.correction = difference;
      known.isCertain = true;
    }
  }
  #doubt(difference: number, largest: number): Experience {
    const most = Math.max(0, Math.min(difference, largest));
    return { correction: 0, isCertain: false, most, last: difference, times: 1, at: this.now() };
  }
}

function keyOf({ caller, model, shape }: ComparedCount): string {
  return `${shape} ${caller ?? ''} ${model ?? ''}`;
}
