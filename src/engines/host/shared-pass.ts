interface Running<T> {
  readonly key: string;
  readonly controller: AbortController;
  readonly done: Promise<T>;
  waiters: number;
}

/** One conversation's passes: one at a time, and requests that need the same one share it. */
export class SharedPasses<T> {
  #running: Running<T> | undefined;

  /**
   * Joins the pass of that key, or starts it once no other one runs. It is aborted when everybody who waits for it
   * has gone. Rejects with the signal's reason when that aborts.
   * @param waitMs for another one to end: `undefined` where it has not by then.
   */
  async run(
    key: string,
    signal: AbortSignal,
    start: (signal: AbortSignal) => Promise<T>,
    waitMs = Number.POSITIVE_INFINITY,
  ): Promise<T | undefined> {
    const latest = performance.now() + waitMs;
    for (;;) {
      signal.throwIfAborted();
      const running = this.#running;
      if (running === undefined) return await this.#wait(this.#start(key, start), signal);
      if (running.key === key && !running.controller.signal.aborted) return await this.#wait(running, signal);
      if (!(await settled(running.done, signal, latest - performance.now()))) return undefined;
    }
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Running<T> {
    const controller = new AbortController();
    const done = start(controller.signal).finally(() => {
      this.#running = undefined;
    });
    // Everybody who waits may be gone by then.
    done.catch(() => undefined);
    const running = { key, controller, done, waiters: 0 };
    this.#running = running;
    return running;
  }

  async #wait(running: Running<T>, signal: AbortSignal): Promise<T> {
    running.waiters += 1;
    try {
      return await unlessAborted(running.done, signal);
    } finally {
      running.waiters -= 1;
      if (running.waiters === 0) running.controller.abort();
    }
  }
}

/** True when the work is over, however it ended; false where it takes longer than that. */
async function settled(work: Promise<unknown>, signal: AbortSignal, ms: number): Promise<boolean> {
  const over = () => true;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    if (ms !== Number.POSITIVE_INFINITY) timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  try {
    return await unlessAborted(Promise.race([work.then(over, over), late]), signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The work's outcome, or the signal's reason where that comes first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // Nobody hears of it once the signal has aborted.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
