import type { RawObject } from '../../body/raw-object.js';
import type { CapField } from '../../budget/cap-field.js';
import { CountCache } from '../calls/count-cache.js';
import { checkSettings } from '../calls/no-settings.js';
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
import type { ServerCount } from './answer.js';
import { readVllmCap } from './caps.js';
import { isVllmOverflow } from './overflow.js';
import { countingKey, countingPayload } from './payload.js';
import { transferredPromptTokens } from './prompt-ids.js';
import { TokenizerClient } from './tokenizer-client.js';
import { refuseUnknownToolChoice } from './tool-choice.js';
import { truncatedTokens, truncationLimit } from './truncation.js';

/** What a test may replace. */
export interface VllmInternals {
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/**
 * Counts with vLLM's own tokenizer and chat template, through `POST /tokenize`.
 * @throws BackendSettingsError
 */
export function createVllmBackend(context: BackendContext, internals: VllmInternals = {}): Backend {
  checkSettings('vllm', context);
  return new VllmBackend(context, internals.now ?? (() => performance.now()));
}

class VllmBackend implements Backend {
  readonly source = 'vllm-tokenize';
  readonly #client: TokenizerClient;
  readonly #cache: CountCache<ServerCount>;

  constructor(context: BackendContext, now: () => number) {
    this.#client = new TokenizerClient(context, now);
    this.#cache = new CountCache(context.tokenizer.cacheEntries, context.observer);
  }

  async count(request: RawObject, call: CountCall): Promise<Count> {
    const transferred = transferredPromptTokens(request);
    if (transferred === undefined) refuseUnknownToolChoice(request);
    const model = request.value('model');
    const { url, authorization, isUpstream } = this.#client.endpoint(model, call.credential);
    const key = `${countingKey(request)} ${call.configured} ${call.contextLength} ${url}`;
    const counted = await this.#cache.get({ key, credential: authorization, call }, (stop) =>
      this.#client.tokenize({ url, authorization, payload: countingPayload(request), stop }, call),
    );
    return {
      tokens: transferred ?? truncatedTokens(request, counted.tokens),
      // A tokenizer beside the upstream knows its own limit, not the upstream's.
      contextLength: isUpstream ? counted.contextLength : (call.contextLength ?? counted.contextLength),
    };
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
    this.#cache.clear();
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
