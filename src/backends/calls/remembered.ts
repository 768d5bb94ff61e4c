import type { BackendCall } from '../contract.js';
import { SharedCalls } from './shared-calls.js';

export interface RememberingCall extends BackendCall {
  /** True: ask again, whatever is remembered. */
  readonly fresh?: boolean | undefined;
}

/** What a server is asked about itself: once for all who want to know, and again after a while. */
export class Remembered<T> {
  #answer: { readonly value: T; readonly at: number } | undefined;
  readonly #asking = new SharedCalls<T>();

  /**
   * @param forMs how long an answer is believed.
   * @param now in milliseconds, monotonic.
   */
  constructor(
    private readonly forMs: number,
    private readonly now: () => number,
  ) {}

  /** Rejections are not remembered. Rejects with the signal's reason when it aborts. */
  async get(call: RememberingCall, ask: (call: BackendCall) => Promise<T>): Promise<T> {
    const known = this.#answer;
    if (known !== undefined && call.fresh !== true && this.now() - known.at <= this.forMs) return known.value;
    const { credential, apiKey, signal } = call;
    return this.#asking.join(`${credential ?? ''} ${apiKey ?? ''}`, signal, async (stop) => {
      const ended = new AbortController();
      stop.onStop = () => ended.abort();
      const value = await ask({ credential, apiKey, signal: ended.signal });
      this.#answer = { value, at: this.now() };
      return value;
    });
  }

  /** What is being asked for still answers who waits for it. */
  forget(): void {
    this.#answer = undefined;
    this.#asking.clear();
  }
}
