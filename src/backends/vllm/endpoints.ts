import type { BackendContext } from '../contract.js';

/** Where the server is asked, and under which credential. */
export class Endpoints {
  readonly models: string;
  readonly #tokenize: string;
  readonly #byModel: ReadonlyMap<string, string>;
  readonly #upstreamOrigin: string;
  readonly #isUpstream = new Map<string, boolean>();
  readonly #key: string | undefined;

  constructor(context: Pick<BackendContext, 'upstream' | 'tokenizer'>) {
    this.models = `${context.upstream}/v1/models`;
    this.#tokenize = context.tokenizer.url ?? `${context.upstream}/tokenize`;
    this.#byModel = context.tokenizer.urlByModel;
    this.#upstreamOrigin = new URL(context.upstream).origin;
    this.#key = context.tokenizer.apiKey === undefined ? undefined : `Bearer ${context.tokenizer.apiKey}`;
  }

  tokenize(model: unknown): string {
    return (typeof model === 'string' ? this.#byModel.get(model) : undefined) ?? this.#tokenize;
  }

  /** The `Authorization` for a counting request. The client's own credential stays on the upstream's origin. */
  tokenizeAuthorization(url: string, credential: string | undefined): string | undefined {
    return this.#key ?? (this.isUpstream(url) ? credential : undefined);
  }

  /** The `Authorization` for the list of models: a key for a tokenizer elsewhere is not the upstream's. */
  modelsAuthorization(credential: string | undefined): string | undefined {
    return credential ?? (this.isUpstream(this.#tokenize) ? this.#key : undefined);
  }

  /** True where the upstream itself counts, and not a server beside it. */
  isUpstream(url: string): boolean {
    let known = this.#isUpstream.get(url);
    if (known === undefined) {
      // Of a handful of configured URLs; to parse one costs more than to decide.
      known = new URL(url).origin === this.#upstreamOrigin;
      this.#isUpstream.set(url, known);
    }
    return known;
  }
}
