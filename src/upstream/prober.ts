import { type Backend, CountFailedError, type ModelDescription } from '../backends/contract.js';
import { exceptionType, type Log } from '../observe/log.js';

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5000;
const PROBE_TIMEOUT_MS = 5000;

export interface ProberOptions {
  readonly backend: Backend;
  /** The operator's own credential; a client's is never used here. */
  readonly credential: string | undefined;
  readonly log: Log;
  readonly onModels: (models: readonly ModelDescription[]) => void;
}

/**
 * Keeps asking the upstream for its models: whether it answers, and how long its models' contexts are. Asks
 * every 5 s, sooner after a failure (250 ms, doubling). Any answer counts, a refusal of the credential too.
 */
export class UpstreamProber {
  readonly #options: ProberOptions;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #delay = FIRST_DELAY_MS;
  #reachable = false;
  #running: Promise<void> | undefined;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  get reachable(): boolean {
    return this.#reachable;
  }

  /** Asks once now, then goes on in the background. */
  start(): Promise<void> {
    this.#running ??= this.#probe();
    return this.#running;
  }

  /** A request did not reach the upstream: ask again soon. */
  noteUnreachable(): void {
    if (!this.#reachable || this.#stop.signal.aborted) return;
    this.#reachable = false;
    this.#delay = FIRST_DELAY_MS;
    this.#schedule(0);
  }

  stop(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
  }

  async #probe(): Promise<void> {
    const answered = await this.#ask();
    if (this.#stop.signal.aborted) return;
    if (answered !== this.#reachable) {
      this.#options.log.info(
        { reachable: answered },
        answered ? 'upstream answers' : 'upstream does not answer',
      );
    }
    this.#reachable = answered;
    this.#delay = answered ? LONGEST_DELAY_MS : Math.min(this.#delay * 2, LONGEST_DELAY_MS);
    this.#schedule(this.#delay);
  }

  #schedule(delay: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#probe(), delay);
    this.#timer.unref();
  }

  /** @returns whether anything answered. */
  async #ask(): Promise<boolean> {
    const { backend, credential } = this.#options;
    const call = {
      signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]),
      credential,
    };
    try {
      if (backend.models === undefined) await backend.describe(undefined, call);
      else this.#options.onModels(await backend.models(call));
      return true;
    } catch (error) {
      if (call.signal.aborted) return false;
      this.#options.log.debug({ type: exceptionType(error) }, 'probe failed');
      return error instanceof CountFailedError && error.code !== 'unreachable' && error.code !== 'timeout';
    }
  }
}
