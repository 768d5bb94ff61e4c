import type { RawObject } from '../../body/raw-object.js';
import type { CapField } from '../../budget/cap-field.js';
import { wholeBody } from '../calls/body-reader.js';
import { CountCache } from '../calls/count-cache.js';
import { Credentials } from '../calls/credentials.js';
import { checkSettings } from '../calls/no-settings.js';
import { refusal } from '../calls/refusal.js';
import { requestKey } from '../calls/request-key.js';
import { isClientError, ServerClient } from '../calls/server-client.js';
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
import { ANSWER_LIMIT, readCount, type TokenCount } from './answer.js';
import { readLlamacppCap } from './caps.js';
import { ContextLengths } from './context-lengths.js';
import { CHAT, COUNTING_PATHS, serverAddress } from './counting-paths.js';
import { isLlamacppOverflow } from './overflow.js';
import { countingPayload } from './payload.js';

/** What a test may replace. */
export interface LlamacppInternals {
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

/**
 * Counts with llama.cpp's own tokenizer and chat template, in one call: the request goes as it is to the counting
 * endpoint beside the one that would answer it.
 * @throws BackendSettingsError
 */
export function createLlamacppBackend(context: BackendContext, internals: LlamacppInternals = {}): Backend {
  checkSettings('llamacpp', context);
  return new LlamacppBackend(context, internals.now ?? (() => performance.now()));
}

/** llama.cpp says 500 of a request that its template cannot render: that server is not down. */
function isRefusal(status: number): boolean {
  return isClientError(status) || status === 500 || status === 501;
}

class LlamacppBackend implements Backend {
  readonly source = 'llamacpp';
  readonly #client: ServerClient;
  readonly #cache: CountCache<TokenCount>;
  readonly #lengths: ContextLengths;
  readonly #credentials: Credentials;
  readonly #counter: string;
  readonly #counterByModel: ReadonlyMap<string, string>;

  constructor(context: BackendContext, now: () => number) {
    const { upstream, tokenizer, observer } = context;
    this.#client = new ServerClient(context, now, isRefusal);
    this.#cache = new CountCache(tokenizer.cacheEntries, observer);
    this.#lengths = new ContextLengths(this.#client, upstream, now);
    this.#credentials = new Credentials(context);
    this.#counter = serverAddress(tokenizer.url ?? upstream);
    this.#counterByModel = new Map([...tokenizer.urlByModel].map(([id, url]) => [id, serverAddress(url)]));
  }

  async count(request: RawObject, call: CountCall): Promise<Count> {
    const way = COUNTING_PATHS.get(call.path ?? CHAT);
    if (way === undefined) throw new CountFailedError('unsupported');
    const model = request.value('model');
    const url = `${this.#counterOf(model)}${way.path}`;
    const authorization = this.#credentials.forCounting(url, call.credential);
    const apiKey = this.#credentials.apiKeyForCounting(url, call.apiKey);
    const key = `${requestKey(request)} ${url}`;
    // Made in any case: a request that cannot be counted is not one for the cache.
    const payload = countingPayload(request, way);
    const [{ tokens }] = await Promise.all([
      this.#cache.get({ key, credential: `${authorization} ${apiKey}`, call }, (stop) =>
        this.#client.count({ url, authorization, apiKey, payload, stop }, (status) =>
          status === 200 ? wholeBody(ANSWER_LIMIT, (body) => readCount(body, way)) : refusal(status),
        ),
      ),
      this.#refreshed(call),
    ]);
    return { tokens, contextLength: this.#contextOf(model, call) };
  }

  async describe(model: string | undefined, call: BackendCall): Promise<number | undefined> {
    try {
      await this.models(call);
      return this.#lengths.of(model);
    } catch (error) {
      if (error instanceof CountFailedError) return undefined;
      throw error;
    }
  }

  models({ signal, credential }: BackendCall): Promise<readonly ModelDescription[]> {
    const authorization = this.#credentials.forModels(this.#counter, credential);
    return this.#lengths.list({ authorization, signal });
  }

  counts(path: string): boolean {
    return COUNTING_PATHS.has(path);
  }

  clearCache(): void {
    this.#cache.clear();
  }

  /** Chat Completions and Completions of llama.cpp do not read `max_output_tokens`, its Responses read nothing else. */
  outputBudgetField(field: CapField, request: RawObject): CapField {
    const isChat = request.has('messages') || request.has('prompt');
    return field === 'max_output_tokens' && isChat ? 'max_tokens' : field;
  }

  coerceOutputBudget(text: string): number | undefined {
    return readLlamacppCap(text);
  }

  isOverflow(status: number, body: string): boolean {
    return isLlamacppOverflow(status, body);
  }

  health(): BackendHealth {
    return this.#client.health();
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #counterOf(model: unknown): string {
    return (typeof model === 'string' ? this.#counterByModel.get(model) : undefined) ?? this.#counter;
  }

  /** Counts carry no length. A server that came back may have another one: asked again where that may be why. */
  async #refreshed(call: CountCall): Promise<void> {
    if (call.fresh === true || this.#lengths.isOld) await this.describe(undefined, call);
  }

  /** @throws CountFailedError `window_mismatch` where the operator stated another length */
  #contextOf(model: unknown, { configured, contextLength }: CountCall): number | undefined {
    const length = this.#lengths.of(model);
    if (configured && length !== undefined && length !== contextLength) {
      throw new CountFailedError('window_mismatch');
    }
    return length;
  }
}
