import type { RawObject } from '../../body/raw-object.js';
import type { CapField } from '../../budget/cap-field.js';
import {
  type Backend,
  type BackendCall,
  type BackendContext,
  type BackendHealth,
  type Count,
  type CountCall,
  CountFailedError,
  type ModelDescription,
} from '../contract.js';
import { readVllmCap } from './caps.js';
import { ChatCounts } from './chat-counts.js';
import { MediaTrait } from './media-trait.js';
import { MessagesCounts } from './messages-counts.js';
import { isVllmOverflow } from './overflow.js';
import { PromptCounts } from './prompt-counts.js';
import { TokenizerClient } from './tokenizer-client.js';
import { truncationLimit } from './truncation.js';
import { readVllmSettings, type VllmSettings } from './vllm-settings.js';
import { countCompletion, countResponse } from './ways.js';

const CHAT = '/v1/chat/completions';

/** What a test may replace. */
export interface VllmInternals {
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
  /** False: `/tokenize` is trusted to render chats as the server does. */
  readonly examines?: boolean;
}

/**
 * Counts with vLLM's own tokenizer and chat template, through `POST /tokenize`.
 * @throws BackendSettingsError
 */
export function createVllmBackend(context: BackendContext, internals: VllmInternals = {}): Backend {
  return new VllmBackend(context, readVllmSettings(context), internals);
}

/** By the path of the generation endpoint. */
type Ways = ReadonlyMap<string, (request: RawObject, call: CountCall) => Promise<Count>>;

class VllmBackend implements Backend {
  readonly source = 'vllm-tokenize';
  readonly #client: TokenizerClient;
  readonly #prompts: PromptCounts;
  readonly #messages: MessagesCounts;
  readonly #chats: ChatCounts;
  readonly #media: MediaTrait;
  readonly #ways: Ways;

  constructor(context: BackendContext, settings: VllmSettings, internals: VllmInternals) {
    const { now = () => performance.now(), examines = true } = internals;
    const client = new TokenizerClient(context, now, settings.longCountsAtOnce);
    const prompts = new PromptCounts(context, client);
    const media = new MediaTrait(client, now);
    const messages = new MessagesCounts(context, client, media, now);
    const chats = new ChatCounts(context, client, prompts, media, { settings, now, examines });
    this.#client = client;
    this.#prompts = prompts;
    this.#messages = messages;
    this.#chats = chats;
    this.#media = media;
    this.#ways = new Map([
      [CHAT, (request, call) => chats.count(request, call)],
      ['/v1/completions', (request, call) => countCompletion(request, call, prompts)],
      ['/v1/responses', (request, call) => countResponse(request, call, chats, client)],
      ['/v1/messages', (request, call) => messages.count(request, call)],
    ]);
  }

  async count(request: RawObject, call: CountCall): Promise<Count> {
    const count = this.#ways.get(call.path ?? CHAT);
    if (count === undefined) throw new CountFailedError('unsupported');
    const counted = await count(request, call);
    if (counted.contextLength !== undefined || call.fresh !== true || call.configured) return counted;
    // A server that came back may have another length, and this count does not tell.
    const model = request.value('model');
    return {
      ...counted,
      contextLength: await this.describe(typeof model === 'string' ? model : undefined, call),
    };
  }

  counts(path: string): boolean {
    return this.#ways.has(path);
  }

  async describe(model: string | undefined, call: BackendCall): Promise<number | undefined> {
    try {
      const models = await this.models(call);
      const described = model === undefined ? models[0] : models.find(({ id }) => id === model);
      return described?.contextLength;
    } catch (error) {
      if (error instanceof CountFailedError) return undefined;
      throw error;
    }
  }

  models(call: BackendCall): Promise<readonly ModelDescription[]> {
    return this.#client.models(call);
  }

  clearCache(): void {
    this.#prompts.clear();
    this.#messages.clear();
    this.#chats.clear();
    this.#media.forget();
    this.#client.version.forget();
  }

  /** Chat Completions of vLLM does not read `max_output_tokens`. */
  outputBudgetField(field: CapField, request: RawObject): CapField {
    return field === 'max_output_tokens' && request.has('messages') ? 'max_tokens' : field;
  }

  outputBudgetLimit(request: RawObject, contextLength: number): number | undefined {
    return truncationLimit(request, contextLength);
  }

  coerceOutputBudget(text: string): number | undefined {
    return readVllmCap(text);
  }

  isOverflow(status: number, body: string): boolean {
    return isVllmOverflow(status, body);
  }

  health(): BackendHealth {
    return this.#client.health();
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
