import { LRUCache } from 'lru-cache';

/** After this long it is asked for again: a server may come back as another version. */
const OLD_MS = 30_000;
/** Beyond this many models the first ones are asked about again. */
const MODELS = 100;

/** That an endpoint was not there, for each model: behind one address may be several servers, a model each. */
export class NotOffered {
  readonly #missedAt = new LRUCache<string, number>({ max: MODELS });

  /** @param now in milliseconds, monotonic. */
  constructor(private readonly now: () => number) {}

  /** True where it was not there within the last 30 s. */
  isKnown(model: unknown): boolean {
    const at = this.#missedAt.get(keyOf(model));
    return at !== undefined && this.now() - at <= OLD_MS;
  }

  note(model: unknown): void {
    this.#missedAt.set(keyOf(model), this.now());
  }

  forget(): void {
    this.#missedAt.clear();
  }
}

function keyOf(model: unknown): string {
  return typeof model === 'string' ? model : '';
}
