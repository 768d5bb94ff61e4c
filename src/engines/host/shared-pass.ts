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
   */
  async run(key: string, signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const running = this.#running;
      if (running === undefined) return await this.#wait(this.#start(key, start), signal);
      if (running.key === key && !running.controller.signal.aborted) return await this.#wait(running, signal);
      await settled(running.done, signal);
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

/** Resolves when the work is over, however it ended. */
async function settled(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  await unlessAborted(
    work.then(
      () => undefined,
      () => undefined,
    ),
    signal,
  );
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
