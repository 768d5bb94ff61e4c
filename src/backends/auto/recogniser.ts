import { CircuitBreaker } from '../calls/circuit-breaker.js';
import { StatusError } from '../calls/refusal.js';
import { type Asking, ServerClient } from '../calls/server-client.js';
import { SharedCalls } from '../calls/shared-calls.js';
import type { BackendCall, BackendContext } from '../contract.js';
import { type Recognised, recognise, type Sight } from './recognise.js';

/** Asks the upstream what it is: one asking at a time for each credential, and none while it does not answer. */
export class Recogniser {
  readonly #client: ServerClient;
  readonly #upstream: string;
  readonly #asking = new SharedCalls<Recognised>();
  readonly #breaker: CircuitBreaker;
  #seen: Sight | undefined;

  constructor(context: BackendContext, now: () => number = () => performance.now()) {
    this.#client = new ServerClient(context, now);
    this.#upstream = context.upstream;
    this.#breaker = new CircuitBreaker(now);
  }

  /** For a request that waits: does not even ask a server that did not answer several times. */
  forCount(call: BackendCall): Promise<Recognised> {
    return this.#breaker.run(
      () => this.ask(call),
      (error) => {
        if (call.signal.aborted) return 'unknown';
        return error instanceof StatusError ? 'refused' : 'down';
      },
    );
  }

  /** @throws CountFailedError; the signal's reason when it aborts */
  ask({ signal, credential }: BackendCall): Promise<Recognised> {
    return this.#asking.join(credential ?? '', signal, (stop) => {
      const ended = new AbortController();
      stop.onStop = () => ended.abort();
      return this.#look({ authorization: credential, signal: ended.signal });
    });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #look(call: Omit<Asking, 'url'>): Promise<Recognised> {
    const before = this.#seen;
    this.#seen = undefined;
    this.#seen = await recognise(this.#client, this.#upstream, call, before);
    return this.#seen.recognised;
  }
}
