import { VERSION } from '../../version.js';
import {
  type BackendCall,
  type BackendContext,
  type BackendHealth,
  type CountCall,
  CountFailedError,
  type ModelDescription,
  ModelUnknownError,
} from '../contract.js';
import { type ServerCount, TokenizeAnswer } from './answer.js';
import { wholeBody } from './body-reader.js';
import { CircuitBreaker, type Health } from './circuit-breaker.js';
import { Endpoints } from './endpoints.js';
import { MODELS_LIMIT, readModels } from './models.js';
import { refusal, StatusError } from './refusal.js';
import { type Stop, stoppedBy } from './stop.js';
import { Transport } from './transport.js';

export interface TokenizeCall {
  readonly url: string;
  readonly authorization: string | undefined;
  /** In parts. */
  readonly payload: readonly Buffer[];
  readonly stop: Stop;
}

export interface TokenizeEndpoint extends Pick<TokenizeCall, 'url' | 'authorization'> {
  /** The upstream itself counts there. */
  readonly isUpstream: boolean;
}

/** Asks the server: one circuit breaker an endpoint, everything measured and reported to the observer. */
export class TokenizerClient {
  readonly #transport: Transport;
  readonly #endpoints: Endpoints;
  readonly #breakers = new Map<string, CircuitBreaker>();
  #calls = 0;
  #failures = 0;

  constructor(
    private readonly context: BackendContext,
    private readonly now: () => number,
  ) {
    this.#transport = new Transport(context);
    this.#endpoints = new Endpoints(context);
  }

  endpoint(model: unknown, credential: string | undefined): TokenizeEndpoint {
    const url = this.#endpoints.tokenize(model);
    const authorization = this.#endpoints.tokenizeAuthorization(url, credential);
    return { url, authorization, isUpstream: this.#endpoints.isUpstream(url) };
  }

  /**
   * @throws ModelUnknownError or CountFailedError, `window_mismatch` among them: where the operator stated a
   * context length, a count of a server with another one is none for it.
   */
  async tokenize(
    call: TokenizeCall,
    expected: Pick<CountCall, 'configured' | 'contextLength'>,
  ): Promise<ServerCount> {
    try {
      const count = await this.#breaker(call.url).run(
        () => this.#post(call),
        (error) => healthAfter(error, call.stop),
      );
      if (expected.configured && expected.contextLength !== count.contextLength) {
        throw new CountFailedError('window_mismatch');
      }
      return count;
    } catch (error) {
      if (!call.stop.stopped && !(error instanceof ModelUnknownError)) this.#failed(error);
      throw error;
    }
  }

  models({ signal, credential }: BackendCall): Promise<readonly ModelDescription[]> {
    const authorization = this.#endpoints.modelsAuthorization(credential);
    return stoppedBy(signal, (stop) =>
      this.#transport.call(
        {
          method: 'GET',
          url: this.#endpoints.models,
          headers: this.#headers(authorization),
          body: null,
          stop,
          timeoutMs: this.#timeoutMs,
        },
        (status) => (status === 200 ? wholeBody(MODELS_LIMIT, readModels) : refusal(status)),
      ),
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

  async #post({ url, authorization, payload, stop }: TokenizeCall): Promise<ServerCount> {
    this.#calls += 1;
    const start = performance.now();
    const headers = [...this.#headers(authorization), 'content-type', 'application/json'];
    try {
      return await this.#transport.call<ServerCount>(
        { method: 'POST', url, headers, body: payload, stop, timeoutMs: this.#timeoutMs },
        (status) => (status === 200 ? new TokenizeAnswer() : refusal(status)),
      );
    } finally {
      this.context.observer.onCall?.((performance.now() - start) / 1000);
    }
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

  #failed(error: unknown): void {
    if (!(error instanceof CountFailedError && error.code === 'circuit_open')) this.#failures += 1;
  }
}

function healthAfter(error: unknown, stop: Stop): Health {
  if (stop.stopped) return 'unknown';
  if (error instanceof ModelUnknownError) return 'refused';
  return error instanceof StatusError && error.isRefusal ? 'refused' : 'down';
}
