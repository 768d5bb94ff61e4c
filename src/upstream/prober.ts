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
  #told: boolean | undefined;
  #misses = 0;
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
    const { answered, cause } = await this.#ask();
    if (this.#stop.signal.aborted) return;
    this.#misses = answered ? 0 : this.#misses + 1;
    // A server that is busy may be late once; one that takes no connection is away.
    this.#reachable = answered || (this.#reachable && cause === 'timeout' && this.#misses < 2);
    this.#tell(this.#reachable, cause);
    this.#delay = answered ? LONGEST_DELAY_MS : Math.min(this.#delay * 2, LONGEST_DELAY_MS);
    this.#schedule(this.#delay);
  }

  /** Once for each change, and for what the first asking showed. */
  #tell(answered: boolean, cause: string | undefined): void {
    if (answered === this.#told) return;
    this.#told = answered;
    if (answered) this.#options.log.info({ reachable: true }, 'upstream answers');
    else this.#options.log.warn({ reachable: false, cause }, 'upstream does not answer');
  }

  #schedule(delay: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#probe(), delay);
    this.#timer.unref();
  }

  /** Whether anything answered, and if not, why: a code, no address. */
  async #ask(): Promise<{ readonly answered: boolean; readonly cause?: string }> {
    const { backend, credential } = this.#options;
    // Not `AbortSignal.any`: in Node.js 20 the signal of a life keeps an entry of every one made of it.
    const ended = new AbortController();
    const end = () => ended.abort();
    const timer = setTimeout(end, PROBE_TIMEOUT_MS).unref();
    this.#stop.signal.addEventListener('abort', end);
    const call = { signal: ended.signal, credential };
    try {
      if (backend.models === undefined) await backend.describe(undefined, call);
      else this.#options.onModels(wellFormed(await backend.models(call)));
      return { answered: true };
    } catch (error) {
      if (call.signal.aborted) return { answered: false, cause: 'timeout' };
      if (!(error instanceof CountFailedError)) return { answered: false, cause: exceptionType(error) };
      if (error.code === 'timeout') return { answered: false, cause: 'timeout' };
      return { answered: error.code !== 'unreachable', cause: error.message };
    } finally {
      clearTimeout(timer);
      this.#stop.signal.removeEventListener('abort', end);
    }
  }
}

/** A backend of a third party may list anything. */
function wellFormed(models: unknown): ModelDescription[] {
  if (!Array.isArray(models)) return [];
  return models.filter(
    (model: unknown): model is ModelDescription =>
      typeof model === 'object' && model !== null && typeof Reflect.get(model, 'id') === 'string',
  );
}
