import { wholeBody } from '../calls/body-reader.js';
import { MODELS_LIMIT, positive, readModels } from '../calls/model-list.js';
import { type CountingCall, ServerClient } from '../calls/server-client.js';
import {
  type BackendCall,
  type BackendContext,
  type BackendHealth,
  type CountCall,
  CountFailedError,
  type ModelDescription,
} from '../contract.js';
import { type ServerCount, TokenizeAnswer } from './answer.js';
import { countTokensAnswer, type MessagesCount } from './count-tokens.js';
import { Endpoints } from './endpoints.js';
import { vllmRefusal } from './refusal.js';
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

  constructor(context: BackendContext, now: () => number) {
    this.#client = new ServerClient(context, now);
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
  countTokens(call: CountingCall): Promise<MessagesCount> {
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
