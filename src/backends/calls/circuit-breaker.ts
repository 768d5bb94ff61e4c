import { CountFailedError } from '../contract.js';

const FAILURES_TO_OPEN = 3;
const FIRST_OPEN_MS = 10_000;
const LONGEST_OPEN_MS = 60_000;

/** What a call tells about the server: `unknown` where the call was given up on our side. */
export type Health = 'up' | 'refused' | 'down' | 'unknown';

/**
 * Stops asking a server that is down: three failures in a row open it for 10 s, then one call probes; a probe
 * that fails doubles the time, up to 60 s. A refusal neither adds to the failures nor clears them, but as the
 * answer to a probe it shows that the server is there.
 */
export class CircuitBreaker {
  #failures = 0;
  #openUntil: number | undefined;
  #openFor = FIRST_OPEN_MS;
  #probing = false;

  /** `now` in milliseconds, monotonic. */
  constructor(private readonly now: () => number) {}

  get state(): 'closed' | 'open' | 'half_open' {
    if (this.#openUntil === undefined) return 'closed';
    return this.now() < this.#openUntil ? 'open' : 'half_open';
  }

  /** @throws CountFailedError `circuit_open` without calling. */
  async run<T>(call: () => Promise<T>, healthOf: (error: unknown) => Health): Promise<T> {
    const { state } = this;
    if (state === 'open' || (state === 'half_open' && this.#probing))
      throw new CountFailedError('circuit_open');
    const probe = state === 'half_open';
    this.#probing ||= probe;
    let health: Health = 'up';
    try {
      return await call();
    } catch (error) {
      health = healthOf(error);
      throw error;
    } finally {
      if (probe) this.#probing = false;
      this.#record(health, probe);
    }
  }

  #record(health: Health, probe: boolean): void {
    if (health === 'up' || (health === 'refused' && probe)) {
      this.#failures = 0;
      this.#openUntil = undefined;
      this.#openFor = FIRST_OPEN_MS;
    } else if (health === 'down' && probe) {
      this.#openFor = Math.min(this.#openFor * 2, LONGEST_OPEN_MS);
      this.#openUntil = this.now() + this.#openFor;
    } else if (health === 'down' && this.#openUntil === undefined) {
      this.#failures += 1;
      if (this.#failures >= FAILURES_TO_OPEN) this.#openUntil = this.now() + this.#openFor;
    }
  }
}
