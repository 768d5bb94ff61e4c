import { CountFailedError } from '../contract.js';
import type { Stop } from './stop.js';

/** From this length on a count is a long one: its server is busy with it for longer than its answer takes. In bytes. */
export const LONG_BYTES = 128 * 1024;
/** Short counts at a time: more would only wait in the server. */
const SHORT_AT_ONCE = 32;

interface Waiting {
  readonly start: () => void;
}

/**
 * How many counts a server is given at a time. A server renders one prompt after the other, so that whatever stands
 * behind a long one waits for it: long ones go one by one, and short ones never wait for a long one that waits itself.
 */
export class CountLanes {
  readonly #short = new Lane(SHORT_AT_ONCE);
  readonly #long: Lane;

  /** @param longAtOnce long counts that the server is given at a time. */
  constructor(longAtOnce: number) {
    this.#long = new Lane(longAtOnce);
  }

  /**
   * Runs a count of that many bytes when its turn has come.
   * @throws CountFailedError `timeout` where it waited for longer than `timeoutMs`
   */
  async run<T>(bytes: number, stop: Stop, timeoutMs: number, count: () => Promise<T>): Promise<T> {
    const lane = bytes < LONG_BYTES ? this.#short : this.#long;
    if (!lane.enter()) await lane.wait(stop, timeoutMs);
    try {
      return await count();
    } finally {
      lane.leave();
    }
  }
}

class Lane {
  #free: number;
  readonly #waiting = new Set<Waiting>();

  constructor(width: number) {
    this.#free = width;
  }

  enter(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** The first that waits takes over the place. */
  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else next.start();
  }

  async wait(stop: Stop, timeoutMs: number): Promise<void> {
    if (stop.stopped) throw new Error('stopped');
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        stop.onStop = undefined;
      };
      const give = (error: Error): void => {
        end();
        reject(error);
      };
      const timer = setTimeout(() => give(new CountFailedError('timeout')), timeoutMs);
      const waiting: Waiting = {
        start() {
          end();
          resolve();
        },
      };
      stop.onStop = () => give(new Error('stopped'));
      this.#waiting.add(waiting);
    });
  }
}
