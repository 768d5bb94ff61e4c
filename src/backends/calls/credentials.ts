import type { BackendContext } from '../contract.js';

/** Under which credential a server is asked. */
export class Credentials {
  readonly #upstreamOrigin: string;
  readonly #isUpstream = new Map<string, boolean>();
  readonly #key: string | undefined;

  constructor(context: Pick<BackendContext, 'upstream' | 'tokenizer'>) {
    this.#upstreamOrigin = new URL(context.upstream).origin;
    this.#key = context.tokenizer.apiKey === undefined ? undefined : `Bearer ${context.tokenizer.apiKey}`;
  }

  /** The `Authorization` for a counting request. The client's own credential stays on the upstream's origin. */
  forCounting(url: string, credential: string | undefined): string | undefined {
    return this.#key ?? (this.isUpstream(url) ? credential : undefined);
  }

  /** The `x-api-key` for a counting request: it stays on the upstream's origin too. */
  apiKeyForCounting(url: string, apiKey: string | undefined): string | undefined {
    return this.isUpstream(url) ? apiKey : undefined;
  }

  /** The `Authorization` for the list of models: a key for a tokenizer elsewhere is not the upstream's. */
  forModels(countingUrl: string, credential: string | undefined): string | undefined {
    return credential ?? (this.isUpstream(countingUrl) ? this.#key : undefined);
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
