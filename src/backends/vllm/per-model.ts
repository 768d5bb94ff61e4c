import { LRUCache } from 'lru-cache';
import { Remembered } from '../calls/remembered.js';

/** After this long a server is asked anew: it may have been started with other flags. */
const OLD_MS = 300_000;
/** Beyond this many models the first ones are asked about again. */
const MODELS = 100;

/** What a server is asked about itself for each model: behind one address may be several servers, a model each. */
export class PerModel<T> {
  readonly #known = new LRUCache<string, Remembered<T>>({ max: MODELS });

  /** @param now in milliseconds, monotonic. */
  constructor(private readonly now: () => number) {}

  of(model: unknown): Remembered<T> {
    const key = typeof model === 'string' ? model : '';
    const known = this.#known.get(key) ?? new Remembered<T>(OLD_MS, this.now);
    this.#known.set(key, known);
    return known;
  }

  forget(): void {
    this.#known.clear();
  }
}
