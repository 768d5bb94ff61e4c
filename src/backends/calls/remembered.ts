import { LRUCache } from 'lru-cache';
import { type BackendCall, CountFailedError } from '../contract.js';
import { SharedCalls } from './shared-calls.js';

export interface RememberingCall extends BackendCall {
  /** True: ask again, whatever is remembered. */
  readonly fresh?: boolean | undefined;
}

/** A server that takes longer to tell something of itself is not waited for, in milliseconds. */
const PATIENCE_MS = 2000;
/** A server that failed to tell is not asked again for so long, in milliseconds. */
const FAILED_MS = 30_000;
const MOST_CALLERS = 1000;

interface Failed {
  readonly error: CountFailedError;
  readonly at: number;
}

/** What a server is asked about itself: once for all who want to know, and again after a while. */
export class Remembered<T> {
  #answer: { readonly value: T; readonly at: number } | undefined;
  /** By who asked: a refused key is nobody else's. */
  readonly #failed = new LRUCache<string, Failed>({ max: MOST_CALLERS });
  readonly #asking = new SharedCalls<T>();

  /**
   * @param forMs how long an answer is believed.
   * @param now in milliseconds, monotonic.
   */
  constructor(
    private readonly forMs: number,
    private readonly now: () => number,
  ) {}

  /**
   * Rejects with the signal's reason when it aborts.
   * @throws CountFailedError `timeout` after 2 s; whatever `ask` rejects with. A server that cannot be reached is asked
   * again at once, one that failed otherwise after 30 s.
   */
  async get(call: RememberingCall, ask: (call: BackendCall) => Promise<T>): Promise<T> {
    const { credential, apiKey, signal } = call;
    const caller = `${credential ?? ''} ${apiKey ?? ''}`;
    if (call.fresh !== true) {
      const known = this.#answer;
      if (known !== undefined && this.now() - known.at <= this.forMs) return known.value;
      const failed = this.#failed.get(caller);
      if (failed !== undefined && this.now() - failed.at <= FAILED_MS) throw failed.error;
    }
    return this.#asking.join(caller, signal, async (stop) => {
      const ended = new AbortController();
      stop.onStop = () => ended.abort();
      try {
        const value = await withPatience(ask({ credential, apiKey, signal: ended.signal }), ended);
        this.#answer = { value, at: this.now() };
        return value;
      } catch (error) {
        if (error instanceof CountFailedError && error.code !== 'unreachable') {
          this.#failed.set(caller, { error, at: this.now() });
        }
        throw error;
      }
    });
  }

  /** What is being asked for still answers who waits for it. */
  forget(): void {
    this.#answer = undefined;
    this.#failed.clear();
    this.#asking.clear();
  }
}

async function withPatience<T>(asked: Promise<T>, ended: AbortController): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CountFailedError('timeout')), PATIENCE_MS);
  });
  // It fails after it was given up.
  asked.catch(() => {});
  try {
    return await Promise.race([asked, late]);
  } catch (error) {
    ended.abort();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
