/** Stops one call. It serves a single listener: an AbortSignal costs as much as writing the call's request. */
export class Stop {
  onStop: (() => void) | undefined;
  #stopped = false;

  get stopped(): boolean {
    return this.#stopped;
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.onStop?.();
  }
}

/** Runs a call that stops with the signal, and rejects with the signal's reason then. */
export async function stoppedBy<T>(signal: AbortSignal, call: (stop: Stop) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const stop = new Stop();
  const abort = (): void => stop.stop();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await call(stop);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
