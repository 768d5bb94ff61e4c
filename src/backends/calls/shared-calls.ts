import { Stop } from './stop.js';

interface Flight<T> {
  readonly result: Promise<T>;
  readonly stop: Stop;
  waiters: number;
  ended: boolean;
}

/**
 * One call at a time per key, shared by all who ask meanwhile. A waiter that aborts leaves without harm to the
 * others; the call is stopped when its last waiter left.
 */
export class SharedCalls<T> {
  readonly #flights = new Map<string, Flight<T>>();

  has(key: string): boolean {
    return this.#flights.has(key);
  }

  /** Rejects with the signal's reason when this waiter aborts. */
  async join(key: string, signal: AbortSignal, start: (stop: Stop) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#take(key, start);
    flight.waiters += 1;
    try {
      return await unlessAborted(flight.result, signal);
    } finally {
      flight.waiters -= 1;
      if (flight.waiters === 0 && !flight.ended) {
        this.#forget(key, flight);
        flight.stop.stop();
      }
    }
  }

  /** Whoever asks from here on starts a call of its own; those in flight still answer their waiters. */
  clear(): void {
    this.#flights.clear();
  }

  #take(key: string, start: (stop: Stop) => Promise<T>): Flight<T> {
    const stop = new Stop();
    const flight: Flight<T> = { result: start(stop), stop, waiters: 0, ended: false };
    this.#flights.set(key, flight);
    const settled = (): void => {
      flight.ended = true;
      this.#forget(key, flight);
    };
    flight.result.then(settled, settled);
    return flight;
  }

  #forget(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}

function unlessAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    result.then(
      (value) => {
        signal.removeEventListener('abort', leave);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', leave);
        reject(error);
      },
    );
  });
}
