import { mediaParts } from '../../body/media-parts.js';
import type { RawObject } from '../../body/raw-object.js';
import { CountCache } from '../calls/count-cache.js';
import { type BackendContext, type Count, type CountCall, CountFailedError } from '../contract.js';
import {
  type ChatRules,
  CURRENT_RULES,
  dependsOnToolChoice,
  dependsOnVersion,
  EARLIER_RULES,
  rulesOfVersion,
} from './chat-rules.js';
import type { MediaTrait } from './media-trait.js';
import type { OptionalCount } from './optional-count.js';
import { countingKey, countingPayload } from './payload.js';
import type { PromptCounts } from './prompt-counts.js';
import { transferredPromptTokens } from './prompt-ids.js';
import { renderPayload } from './rendered-count.js';
import { ServerTraits } from './server-traits.js';
import type { TokenizerClient } from './tokenizer-client.js';
import { refuseUnknownToolChoice } from './tool-choice.js';
import { truncatedTokens } from './truncation.js';
import type { VllmSettings } from './vllm-settings.js';

const RENDER = '/v1/chat/completions/render';
/** Versions of which it is known that they take token ids in place of the messages, or do not. */
const READS_PROMPT_IDS = 32;
const IGNORES_PROMPT_IDS = 16;

export interface ChatCountsOptions {
  readonly settings: Pick<VllmSettings, 'mediaReserveTokens'>;
  readonly now: () => number;
  /** False: `/tokenize` is trusted to render chats as the server does. */
  readonly examines: boolean;
}

/** Counts chats by `POST /tokenize`, as the upstream's version and flags have them rendered. */
export class ChatCounts {
  readonly #traits: ServerTraits;
  readonly #rendered: CountCache<OptionalCount>;

  constructor(
    context: Pick<BackendContext, 'tokenizer' | 'observer'>,
    private readonly client: TokenizerClient,
    private readonly prompts: PromptCounts,
    private readonly media: MediaTrait,
    private readonly options: ChatCountsOptions,
  ) {
    this.#traits = new ServerTraits(client, options.now);
    this.#rendered = new CountCache(context.tokenizer.cacheEntries, context.observer);
  }

  /** @throws ModelUnknownError or CountFailedError */
  async count(request: RawObject, call: CountCall): Promise<Count> {
    const transferred = transferredPromptTokens(request);
    if (transferred !== undefined) return this.#transferred(transferred, request, call);
    return this.#countChat(request, call);
  }

  async #transferred(ids: number, request: RawObject, call: CountCall): Promise<Count> {
    const minor = (await this.#minor(call)) ?? 0;
    if (minor >= READS_PROMPT_IDS) {
      const { contextLength } = await this.#countUnder(CURRENT_RULES, request, call);
      return { tokens: ids, contextLength };
    }
    const counted = await this.#countChat(request, call);
    if (minor === IGNORES_PROMPT_IDS) return counted;
    return { ...counted, tokens: Math.max(ids, counted.tokens), rough: true };
  }

  async #countChat(request: RawObject, call: CountCall): Promise<Count> {
    refuseUnknownToolChoice(request);
    const [counted, offset] = await Promise.all([
      this.#countUnderAll(request, request, call),
      this.#offset(request.value('model'), call),
    ]);
    const certain = offset === 0 ? counted : await this.#elsewhere(request, call, counted, offset);
    const whole = await this.#withMedia(request, call, certain);
    return { ...whole, tokens: truncatedTokens(request, whole.tokens) };
  }

  /**
   * Counts a chat that the upstream makes of another request.
   * @throws ModelUnknownError or CountFailedError
   */
  async countMade(chat: RawObject, asked: RawObject, call: CountCall): Promise<Count> {
    const [counted, offset] = await Promise.all([
      this.#countUnderAll(chat, asked, call),
      this.#offset(chat.value('model'), call),
    ]);
    return offset === 0 ? counted : longerBy(offset, counted);
  }

  /** `undefined`: cannot be found out. */
  async #offset(model: unknown, call: CountCall): Promise<number | undefined> {
    return this.options.examines ? this.#traits.offset(model, call) : 0;
  }

  /**
   * Counts a chat under every rule that the upstream may have: one, where it tells. Where they differ in the count, it
   * is not certain.
   * @param asked the request that the chat was made of.
   */
  async #countUnderAll(chat: RawObject, asked: RawObject, call: CountCall): Promise<Count> {
    const [first, ...others] = await this.#rulesFor(chat, asked, call);
    const count = await this.#countUnder(first, chat, call);
    let most = count.tokens;
    let isCertain = true;
    for (const rules of others) {
      const { tokens } = await this.#countUnder(rules, chat, call);
      isCertain &&= tokens === count.tokens;
      most = Math.max(most, tokens);
    }
    if (isCertain) return count;
    const rendered = chat === asked ? await this.#renderedTokens(chat, call) : undefined;
    return rendered === undefined ? { ...count, tokens: most, rough: true } : { ...count, tokens: rendered };
  }

  clear(): void {
    this.#rendered.clear();
    this.#traits.forget();
  }

  #countUnder(rules: ChatRules, chat: RawObject, call: CountCall): Promise<Count> {
    const prompt = {
      model: chat.value('model'),
      key: countingKey(chat, rules),
      payload: () => countingPayload(chat, rules),
    };
    return this.prompts.count(prompt, call);
  }

  async #rulesFor(
    chat: RawObject,
    asked: RawObject,
    call: CountCall,
  ): Promise<readonly [ChatRules, ...ChatRules[]]> {
    const told = dependsOnVersion(chat) ? rulesOfVersion(await this.#minor(call)) : CURRENT_RULES;
    const rules: readonly [ChatRules, ...ChatRules[]] =
      told === undefined ? [CURRENT_RULES, EARLIER_RULES] : [told];
    if (!dependsOnToolChoice(asked)) return rules;
    const hidesTools = await this.#traits.hidesTools(chat.value('model'), call);
    const [first, ...others] = rules;
    if (hidesTools !== undefined)
      return [{ ...first, hidesTools }, ...others.map((one) => ({ ...one, hidesTools }))];
    return [first, ...others, ...rules.map((one) => ({ ...one, hidesTools: true }))];
  }

  /** `/tokenize` renders with another template, or other defaults of it: or may do so. */
  async #elsewhere(
    request: RawObject,
    call: CountCall,
    counted: Count,
    offset: number | undefined,
  ): Promise<Count> {
    const rendered = await this.#renderedTokens(request, call);
    if (rendered === undefined) return longerBy(offset, counted);
    return { ...counted, tokens: rendered, rough: undefined };
  }

  async #withMedia(request: RawObject, call: CountCall, counted: Count): Promise<Count> {
    const parts = mediaParts(request);
    if (parts === 0 || (await this.media.expandsInChats(request.value('model'), call))) return counted;
    const reserved = parts * this.options.settings.mediaReserveTokens;
    return { ...counted, tokens: counted.tokens + reserved, rough: true };
  }

  /** `undefined` where the server offers no rendering, or refuses this request: a prompt beyond the context, say. */
  async #renderedTokens(request: RawObject, call: CountCall): Promise<number | undefined> {
    if ((await this.#traits.rendersChats(request.value('model'), call)) !== true) return undefined;
    const { url, authorization, apiKey } = this.client.upstreamEndpoint(RENDER, call);
    const key = `${countingKey(request, CURRENT_RULES)} ${request.digest('tool_choice')} ${url}`;
    const wanted = { key, credential: `${authorization} ${apiKey}`, call };
    try {
      const { tokens } = await this.#rendered.get(wanted, (stop) =>
        this.client.render({ url, authorization, apiKey, payload: [renderPayload(request)], stop }),
      );
      return tokens;
    } catch (error) {
      call.signal.throwIfAborted();
      if (error instanceof CountFailedError) return undefined;
      throw error;
    }
  }

  /** A server that cannot be asked does not say which version it is. */
  async #minor(call: CountCall): Promise<number | undefined> {
    try {
      return await this.client.version.minor(call);
    } catch (error) {
      call.signal.throwIfAborted();
      if (error instanceof CountFailedError) return undefined;
      throw error;
    }
  }
}

function longerBy(offset: number | undefined, counted: Count): Count {
  return { ...counted, tokens: counted.tokens + Math.max(0, offset ?? 0), rough: true };
}
