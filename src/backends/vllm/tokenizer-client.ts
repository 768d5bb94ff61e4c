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
import { Endpoints } from './endpoints.js';
import { vllmRefusal } from './refusal.js';

export interface TokenizeEndpoint extends Pick<CountingCall, 'url' | 'authorization'> {
  /** The upstream itself counts there. */
  readonly isUpstream: boolean;
}

/** Asks vLLM. */
export class TokenizerClient {
  readonly #client: ServerClient;
  readonly #endpoints: Endpoints;

  constructor(context: BackendContext, now: () => number) {
    this.#client = new ServerClient(context, now);
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

  models({ signal, credential }: BackendCall): Promise<readonly ModelDescription[]> {
    const authorization = this.#endpoints.modelsAuthorization(credential);
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
}
