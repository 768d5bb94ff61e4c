const TICK_MS = 100;

interface Wait {
  readonly until: number;
  readonly expire: () => void;
}

/** Ends waits that last too long, at most a tick late. One timer for all: most waits are over before theirs is set. */
export class Deadlines {
  readonly #waits = new Set<Wait>();
  #timer: NodeJS.Timeout | undefined;

  /** The answer, or a rejection with what `late` makes once the time has passed. */
  within<T>(ms: number, answer: Promise<T>, late: () => Error): Promise<T> {
    return new Promise((resolve, reject) => {
      const wait = { until: performance.now() + ms, expire: () => reject(late()) };
      this.#waits.add(wait);
      this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
      answer.then(
        (value) => {
          this.#waits.delete(wait);
          resolve(value);
        },
        (error: unknown) => {
          this.#waits.delete(wait);
          reject(error);
        },
      );
    });
  }

  #tick(): void {
    if (this.#waits.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const now = performance.now();
    for (const wait of this.#waits) {
      if (wait.until > now) continue;
      this.#waits.delete(wait);
      wait.expire();
    }
  }
}
