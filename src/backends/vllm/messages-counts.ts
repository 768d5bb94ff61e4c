import { mediaParts } from '../../body/media-parts.js';
import type { RawObject } from '../../body/raw-object.js';
import { CountCache } from '../calls/count-cache.js';
import { requestKey } from '../calls/request-key.js';
import { type BackendContext, type Count, type CountCall, CountFailedError } from '../contract.js';
import { saysHowToThink } from './count-tokens.js';
import type { MediaTrait } from './media-trait.js';
import type { OptionalCount } from './optional-count.js';
import { refusePromptIds } from './prompt-ids.js';
import type { TokenizerClient } from './tokenizer-client.js';

const READS_THINKING = 32;

/** Counts requests in Anthropic's form by `POST /v1/messages/count_tokens`, which takes them as they are. */
export class MessagesCounts {
  readonly #cache: CountCache<OptionalCount>;

  constructor(
    context: Pick<BackendContext, 'tokenizer' | 'observer'>,
    private readonly client: TokenizerClient,
    private readonly media: MediaTrait,
  ) {
    this.#cache = new CountCache(context.tokenizer.cacheEntries, context.observer);
  }

  /** @throws ModelUnknownError or CountFailedError: a prompt beyond the context is refused, and so not counted */
  async count(request: RawObject, call: CountCall): Promise<Count> {
    refusePromptIds(request);
    const { url, authorization, apiKey } = this.client.countTokensEndpoint(call);
    if (saysHowToThink(request)) await this.client.version.requireAtLeast(READS_THINKING, call);
    if (mediaParts(request) > 0 && !(await this.media.expandsInMessages(request.value('model'), call))) {
      throw new CountFailedError('unsupported');
    }
    const wanted = { key: `${requestKey(request)} ${url}`, credential: `${authorization} ${apiKey}`, call };
    const { tokens } = await this.#cache.get(wanted, (stop) =>
      this.client.countTokens({ url, authorization, apiKey, payload: [request.bytes], stop }),
    );
    if (tokens === undefined) throw new CountFailedError('unsupported');
    return { tokens };
  }

  clear(): void {
    this.#cache.clear();
  }
}
