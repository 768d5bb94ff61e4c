import { CountCache } from '../calls/count-cache.js';
import type { BackendContext, Count, CountCall } from '../contract.js';
import type { ServerCount } from './answer.js';
import type { TokenizerClient } from './tokenizer-client.js';

/** One prompt for `POST /tokenize`. */
export interface PromptToCount {
  readonly model: unknown;
  /** Equal keys mean equal payloads. */
  readonly key: string;
  /** Made only where the server is asked. */
  readonly payload: () => readonly Buffer[];
}

/** Counts by `POST /tokenize`, each prompt once. */
export class PromptCounts {
  readonly #cache: CountCache<ServerCount>;

  constructor(
    context: Pick<BackendContext, 'tokenizer' | 'observer'>,
    private readonly client: TokenizerClient,
  ) {
    this.#cache = new CountCache(context.tokenizer.cacheEntries, context.observer);
  }

  /** @throws ModelUnknownError or CountFailedError */
  async count(prompt: PromptToCount, call: CountCall): Promise<Count> {
    const { url, authorization, apiKey, isUpstream } = this.client.endpoint(prompt.model, call);
    const key = `${prompt.key} ${call.configured} ${call.contextLength} ${url}`;
    const credential = `${authorization} ${apiKey}`;
    const { tokens, contextLength } = await this.#cache.get({ key, credential, call }, (stop) =>
      this.client.tokenize({ url, authorization, apiKey, payload: prompt.payload(), stop }, call),
    );
    // A tokenizer beside the upstream knows its own limit, not the upstream's.
    return { tokens, contextLength: isUpstream ? contextLength : (call.contextLength ?? contextLength) };
  }

  clear(): void {
    this.#cache.clear();
  }
}
