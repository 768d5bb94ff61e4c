import { VERSION } from '../../version.js';
import { type BackendContext, type BackendHealth, CountFailedError, ModelUnknownError } from '../contract.js';
import type { ReaderOf } from './answer-handler.js';
import { CircuitBreaker, type Health } from './circuit-breaker.js';
import { CountLanes } from './count-lanes.js';
import { StatusError } from './refusal.js';
import { lengthOf } from './request-body.js';
import { type Stop, stoppedBy } from './stop.js';
import { Transport } from './transport.js';

export interface CountingCall {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly apiKey?: string | undefined;
  /** In parts. */
  readonly payload: readonly Buffer[];
  readonly stop: Stop;
}

export interface Asking {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly apiKey?: string | undefined;
  readonly signal: AbortSignal;
}

/** What a server's answer with this status means: true for a refusal of the request, from a server that is up. */
export type IsRefusal = (status: number) => boolean;

export const isClientError: IsRefusal = (status) => status >= 400 && status < 500;

/** Long counts that a server is given at a time, unless the operator says otherwise. */
export const LONG_COUNTS_AT_ONCE = 1;

/**
 * Asks a server: one circuit breaker an endpoint that counts, counts in lanes for each server, everything measured and
 * reported to the observer.
 */
export class ServerClient {
  readonly #transport: Transport;
  readonly #breakers = new Map<string, CircuitBreaker>();
  readonly #lanes = new Map<string, CountLanes>();
  #calls = 0;
  #failures = 0;

  constructor(
    private readonly context: BackendContext,
    private readonly now: () => number,
    private readonly isRefusal: IsRefusal = isClientError,
    private readonly longAtOnce: number = LONG_COUNTS_AT_ONCE,
  ) {
    this.#transport = new Transport(context);
  }

  /**
   * @param accept throws where the answer is none for the caller.
   * @throws ModelUnknownError or CountFailedError
   */
  async count<T>(call: CountingCall, readerOf: ReaderOf<T>, accept?: (answer: T) => void): Promise<T> {
    try {
      const answer = await this.#lanesOf(call.url).run(
        lengthOf(call.payload),
        call.stop,
        this.#timeoutMs,
        () =>
          this.#breaker(call.url).run(
            () => this.#post(call, readerOf),
            (error) => this.#healthAfter(error, call.stop),
          ),
      );
      accept?.(answer);
      return answer;
    } catch (error) {
      if (!call.stop.stopped && !(error instanceof ModelUnknownError)) this.#failed(error);
      throw error;
    }
  }

  /** @throws CountFailedError; the signal's reason when it aborts */
  get<T>({ url, authorization, signal }: Asking, readerOf: ReaderOf<T>): Promise<T> {
    const timeoutMs = this.#timeoutMs;
    const headers = this.#headers(authorization);
    return stoppedBy(signal, (stop) =>
      this.#transport.call({ method: 'GET', url, headers, body: null, stop, timeoutMs }, readerOf),
    );
  }

  /**
   * Asks a server about itself: no count, so nothing that is measured, and no sign of its health.
   * @throws CountFailedError; the signal's reason when it aborts
   */
  post<T>({ url, authorization, apiKey, signal }: Asking, body: Buffer, readerOf: ReaderOf<T>): Promise<T> {
    const timeoutMs = this.#timeoutMs;
    const headers = this.#postHeaders(authorization, apiKey);
    return stoppedBy(signal, (stop) =>
      this.#transport.call({ method: 'POST', url, headers, body: [body], stop, timeoutMs }, readerOf),
    );
  }

  health(): BackendHealth {
    const states = new Set([...this.#breakers.values()].map((breaker) => breaker.state));
    const state = states.has('open') ? 'open' : states.has('half_open') ? 'half_open' : 'closed';
    return { state, calls: this.#calls, failures: this.#failures };
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  get #timeoutMs(): number {
    return this.context.tokenizer.timeoutSeconds * 1000;
  }

  async #post<T>(
    { url, authorization, apiKey, payload, stop }: CountingCall,
    readerOf: ReaderOf<T>,
  ): Promise<T> {
    this.#calls += 1;
    const start = performance.now();
    const headers = this.#postHeaders(authorization, apiKey);
    try {
      return await this.#transport.call<T>(
        { method: 'POST', url, headers, body: payload, stop, timeoutMs: this.#timeoutMs },
        readerOf,
      );
    } finally {
      this.context.observer.onCall?.((performance.now() - start) / 1000);
    }
  }

  #postHeaders(authorization: string | undefined, apiKey: string | undefined): string[] {
    const headers = [...this.#headers(authorization), 'content-type', 'application/json'];
    if (apiKey !== undefined) headers.push('x-api-key', apiKey);
    return headers;
  }

  #headers(authorization: string | undefined): string[] {
    const headers = ['user-agent', this.context.tokenizer.userAgent ?? `incontext-proxy/${VERSION}`];
    if (authorization !== undefined) headers.push('authorization', authorization);
    return headers;
  }

  #breaker(url: string): CircuitBreaker {
    let breaker = this.#breakers.get(url);
    if (breaker === undefined) {
      breaker = new CircuitBreaker(this.now);
      this.#breakers.set(url, breaker);
    }
    return breaker;
  }

  /** Whatever a server counts, it does so with the same hands. */
  #lanesOf(url: string): CountLanes {
    const known = this.#lanes.get(url);
    if (known !== undefined) return known;
    const { origin } = new URL(url);
    const lanes = this.#lanes.get(origin) ?? new CountLanes(this.longAtOnce);
    this.#lanes.set(origin, lanes).set(url, lanes);
    return lanes;
  }

  #failed(error: unknown): void {
    if (!(error instanceof CountFailedError && error.code === 'circuit_open')) this.#failures += 1;
  }

  #healthAfter(error: unknown, stop: Stop): Health {
    if (stop.stopped) return 'unknown';
    if (error instanceof ModelUnknownError) return 'refused';
    return error instanceof StatusError && this.isRefusal(error.status) ? 'refused' : 'down';
  }
}
