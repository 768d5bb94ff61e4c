import { Credentials } from '../calls/credentials.js';
import type { BackendContext } from '../contract.js';

/** Where the server is asked, and under which credential. */
export class Endpoints {
  readonly models: string;
  /** Where requests in Anthropic's form are counted: the upstream alone has their endpoint. */
  readonly countTokens: string;
  readonly #upstream: string;
  readonly #tokenize: string;
  readonly #byModel: ReadonlyMap<string, string>;
  readonly #credentials: Credentials;

  constructor(context: Pick<BackendContext, 'upstream' | 'tokenizer'>) {
    this.#upstream = context.upstream;
    this.models = `${context.upstream}/v1/models`;
    this.countTokens = `${context.upstream}/v1/messages/count_tokens`;
    this.#tokenize = context.tokenizer.url ?? `${context.upstream}/tokenize`;
    this.#byModel = context.tokenizer.urlByModel;
    this.#credentials = new Credentials(context);
  }

  /** A path of the upstream's own. */
  onUpstream(path: string): string {
    return `${this.#upstream}${path}`;
  }

  tokenize(model: unknown): string {
    return (typeof model === 'string' ? this.#byModel.get(model) : undefined) ?? this.#tokenize;
  }

  countingAuthorization(url: string, credential: string | undefined): string | undefined {
    return this.#credentials.forCounting(url, credential);
  }

  countingApiKey(url: string, apiKey: string | undefined): string | undefined {
    return this.#credentials.apiKeyForCounting(url, apiKey);
  }

  modelsAuthorization(credential: string | undefined): string | undefined {
    return this.#credentials.forModels(this.#tokenize, credential);
  }

  isUpstream(url: string): boolean {
    return this.#credentials.isUpstream(url);
  }
}
