import type { ReaderOf } from '../calls/answer-handler.js';
import { wholeBody } from '../calls/body-reader.js';
import { MODELS_LIMIT, positive, readModels } from '../calls/model-list.js';
import { type CountingCall, isClientError, ServerClient } from '../calls/server-client.js';
import {
  type BackendCall,
  type BackendContext,
  type BackendHealth,
  type CountCall,
  CountFailedError,
  type ModelDescription,
} from '../contract.js';
import { type ServerCount, TokenizeAnswer } from './answer.js';
import { countTokensAnswer } from './count-tokens.js';
import { Endpoints } from './endpoints.js';
import type { OptionalCount } from './optional-count.js';
import { vllmRefusal } from './refusal.js';
import { renderAnswer } from './rendered-count.js';
import { ServerVersion } from './server-version.js';

export interface TokenizeEndpoint extends Pick<CountingCall, 'url' | 'authorization' | 'apiKey'> {
  /** The upstream itself counts there. */
  readonly isUpstream: boolean;
}

/** Asks vLLM. */
export class TokenizerClient {
  readonly #client: ServerClient;
  readonly #endpoints: Endpoints;
  /** Which vLLM the upstream is. */
  readonly version: ServerVersion;

  constructor(context: BackendContext, now: () => number, longCountsAtOnce?: number) {
    this.#client = new ServerClient(context, now, isClientError, longCountsAtOnce);
    this.#endpoints = new Endpoints(context);
    this.version = new ServerVersion(
      this.#client,
      context.upstream,
      (call) => this.upstreamAuthorization(call),
      now,
    );
  }

  endpoint(model: unknown, caller: BackendCall): TokenizeEndpoint {
    const url = this.#endpoints.tokenize(model);
    return this.#endpointAt(url, this.#endpoints.countingAuthorization(url, caller.credential), caller);
  }

  countTokensEndpoint(caller: BackendCall): TokenizeEndpoint {
    return this.#endpointAt(this.#endpoints.countTokens, this.upstreamAuthorization(caller), caller);
  }

  upstreamEndpoint(path: string, caller: BackendCall): TokenizeEndpoint {
    const url = this.#endpoints.onUpstream(path);
    return this.#endpointAt(url, this.upstreamAuthorization(caller), caller);
  }

  /** Asks the upstream about itself. @throws ModelUnknownError or CountFailedError */
  askUpstream<T>(path: string, body: Buffer, caller: BackendCall, readerOf: ReaderOf<T>): Promise<T> {
    const { url, authorization, apiKey } = this.upstreamEndpoint(path, caller);
    return this.#client.post({ url, authorization, apiKey, signal: caller.signal }, body, readerOf);
  }

  /** What `/tokenize` counts for a sample. @throws ModelUnknownError or CountFailedError */
  async sampleTokens(model: unknown, sample: Buffer, caller: BackendCall): Promise<number> {
    const { url, authorization, apiKey } = this.endpoint(model, caller);
    const { tokens } = await this.#client.post(
      { url, authorization, apiKey, signal: caller.signal },
      sample,
      (status) => (status === 200 ? new TokenizeAnswer() : vllmRefusal(status)),
    );
    return tokens;
  }

  /**
   * @throws ModelUnknownError or CountFailedError, `window_mismatch` among them: where the operator stated a
   * context length, a count of a server with another one is none for it.
   */
  tokenize(
    call: CountingCall,
    expected: Pick<CountCall, 'configured' | 'contextLength'>,
  ): Promise<ServerCount> {
    return this.#client.count(
      call,
      (status) => (status === 200 ? new TokenizeAnswer() : vllmRefusal(status)),
      (count) => {
        if (expected.configured && expected.contextLength !== count.contextLength) {
          throw new CountFailedError('window_mismatch');
        }
      },
    );
  }

  /** The `Authorization` for what only the upstream itself knows. */
  upstreamAuthorization({ credential }: BackendCall): string | undefined {
    return this.#endpoints.modelsAuthorization(credential);
  }

  /** @throws ModelUnknownError or CountFailedError */
  render(call: CountingCall): Promise<OptionalCount> {
    return this.#client.count(call, renderAnswer);
  }

  /** @throws ModelUnknownError or CountFailedError */
  countTokens(call: CountingCall): Promise<OptionalCount> {
    return this.#client.count(call, countTokensAnswer);
  }

  models(caller: BackendCall): Promise<readonly ModelDescription[]> {
    const { signal } = caller;
    const authorization = this.upstreamAuthorization(caller);
    const read = (body: Buffer) => readModels(body, (card) => positive(card.max_model_len));
    return this.#client.get({ url: this.#endpoints.models, authorization, signal }, (status) =>
      status === 200 ? wholeBody(MODELS_LIMIT, read) : vllmRefusal(status),
    );
  }

  health(): BackendHealth {
    return this.#client.health();
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #endpointAt(url: string, authorization: string | undefined, { apiKey }: BackendCall): TokenizeEndpoint {
    return {
      url,
      authorization,
      apiKey: this.#endpoints.countingApiKey(url, apiKey),
      isUpstream: this.#endpoints.isUpstream(url),
    };
  }
}
