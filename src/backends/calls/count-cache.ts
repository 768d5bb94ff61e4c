import { LRUCache } from 'lru-cache';
import type { BackendObserver, CountCall } from '../contract.js';
import { SharedCalls } from './shared-calls.js';
import { type Stop, stoppedBy } from './stop.js';

export interface CacheRequest {
  /** Identifies the count. */
  readonly key: string;
  /** Whose call may be shared: calls under different credentials may end differently. */
  readonly credential: string | undefined;
  readonly call: Pick<CountCall, 'signal' | 'fresh'>;
}

/** A bounded LRU of counts with single flight in front of the server. Failures are not kept. */
export class CountCache<T extends object> {
  readonly #counts: LRUCache<string, T>;
  readonly #calls = new SharedCalls<T>();
  #generation = 0;

  constructor(
    entries: number,
    private readonly observer: BackendObserver,
  ) {
    this.#counts = new LRUCache({ max: entries });
  }

  async get(request: CacheRequest, ask: (stop: Stop) => Promise<T>): Promise<T> {
    const { key, credential, call } = request;
    const cached = call.fresh === true ? undefined : this.#counts.get(key);
    if (cached !== undefined) {
      this.observer.onCache?.('hit');
      return cached;
    }
    const { signal } = call;
    signal.throwIfAborted();
    const askAndKeep = (stop: Stop): Promise<T> => this.#askAndKeep(key, () => ask(stop));
    if (call.fresh === true) {
      this.observer.onCache?.('miss');
      return stoppedBy(signal, askAndKeep);
    }
    const flight = `${key} ${credential ?? ''}`;
    this.observer.onCache?.(this.#calls.has(flight) ? 'shared' : 'miss');
    return this.#calls.join(flight, signal, askAndKeep);
  }

  /** Forgets all counts; the result of a call in flight is not kept. */
  clear(): void {
    this.#generation += 1;
    this.#counts.clear();
    this.#calls.clear();
  }

  async #askAndKeep(key: string, ask: () => Promise<T>): Promise<T> {
    const generation = this.#generation;
    const count = await ask();
    if (generation === this.#generation) this.#counts.set(key, count);
    return count;
  }
}
