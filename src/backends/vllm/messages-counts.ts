import { mediaParts } from '../../body/media-parts.js';
import type { RawObject } from '../../body/raw-object.js';
import { CountCache } from '../calls/count-cache.js';
import { requestKey } from '../calls/request-key.js';
import { type BackendContext, type Count, type CountCall, CountFailedError } from '../contract.js';
import { saysHowToThink } from './count-tokens.js';
import type { MediaTrait } from './media-trait.js';
import { NotOffered } from './not-offered.js';
import { refusePromptIds } from './prompt-ids.js';
import type { TokenizerClient } from './tokenizer-client.js';

const READS_THINKING = 32;

/** Counts requests in Anthropic's form by `POST /v1/messages/count_tokens`, which takes them as they are. */
export class MessagesCounts {
  readonly #cache: CountCache<Count>;
  readonly #notOffered: NotOffered;

  constructor(
    context: Pick<BackendContext, 'tokenizer' | 'observer'>,
    private readonly client: TokenizerClient,
    private readonly media: MediaTrait,
    now: () => number,
  ) {
    this.#notOffered = new NotOffered(now);
    this.#cache = new CountCache(context.tokenizer.cacheEntries, context.observer);
  }

  /** @throws ModelUnknownError or CountFailedError: a prompt beyond the context is refused, and so not counted */
  async count(request: RawObject, call: CountCall): Promise<Count> {
    refusePromptIds(request);
    const model = request.value('model');
    if (call.fresh !== true && this.#notOffered.isKnown(model)) throw new CountFailedError('unsupported');
    const { url, authorization, apiKey } = this.client.countTokensEndpoint(call);
    if (saysHowToThink(request)) await this.client.version.requireAtLeast(READS_THINKING, call);
    if (mediaParts(request) > 0 && !(await this.media.expandsInMessages(model, call))) {
      throw new CountFailedError('unsupported');
    }
    const wanted = { key: `${requestKey(request)} ${url}`, credential: `${authorization} ${apiKey}`, call };
    return await this.#cache.get(wanted, async (stop) => {
      const asked = { url, authorization, apiKey, payload: [request.bytes], stop };
      const { tokens } = await this.client.countTokens(asked);
      if (tokens !== undefined) return { tokens };
      this.#notOffered.note(model);
      throw new CountFailedError('unsupported');
    });
  }

  clear(): void {
    this.#cache.clear();
    this.#notOffered.forget();
  }
}
