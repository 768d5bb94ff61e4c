import { LRUCache } from 'lru-cache';
import { Remembered } from '../calls/remembered.js';
import type { BackendCall, CountCall } from '../contract.js';
import { countTokensAnswer } from './count-tokens.js';
import { renderAnswer } from './rendered-count.js';
import type { TokenizerClient } from './tokenizer-client.js';

/** After this long a server is asked anew: it may have been started with other flags. */
const OLD_MS = 300_000;
/** Beyond this many models the first ones are asked about again. */
const MODELS = 100;
const TOOL = { name: 'look_up', description: 'Looks something up.' };
const PARAMETERS = { type: 'object', properties: { key: { type: 'string' } } };
const MESSAGES = [{ role: 'user', content: 'hello' }];

/**
 * What the upstream does that `/tokenize` does not show: found out with small samples, at the endpoints that render a
 * chat as Chat Completions does, `/v1/chat/completions/render` and `/v1/messages/count_tokens`.
 */
export class ServerTraits {
  readonly #hidesTools: PerModel<boolean | undefined>;
  readonly #offsets: PerModel<number | undefined>;

  constructor(
    private readonly client: TokenizerClient,
    now: () => number,
  ) {
    // Behind one address may be several servers, a model each.
    this.#hidesTools = new PerModel(now);
    this.#offsets = new PerModel(now);
  }

  /** Whether `tool_choice: none` hides the tools; `undefined` where that cannot be found out. */
  hidesTools(model: unknown, call: CountCall): Promise<boolean | undefined> {
    return unlessFailed(call, () =>
      this.#hidesTools.of(model).get(call, async (asking) => {
        const hidden = await this.#tokens(model, 'none', asking);
        const without = await this.#tokens(model, 'absent', asking);
        return hidden === undefined || without === undefined ? undefined : hidden === without;
      }),
    );
  }

  /**
   * By how many tokens the server's rendering of a sample is longer than what `/tokenize` counts for it: other than 0
   * where chats are not rendered with the template that `/tokenize` uses. `undefined`: cannot be found out.
   */
  offset(model: unknown, call: CountCall): Promise<number | undefined> {
    return unlessFailed(call, () =>
      this.#offsets.of(model).get(call, async (asking) => {
        if ((await this.client.version.minor(asking)) === undefined) return undefined;
        const rendered = await this.#tokens(model, 'absent', asking);
        if (rendered === undefined) return undefined;
        return rendered - (await this.client.sampleTokens(model, sample(model, 'absent'), asking));
      }),
    );
  }

  forget(): void {
    this.#hidesTools.forget();
    this.#offsets.forget();
  }

  /** `undefined` where the server has neither endpoint. */
  async #tokens(model: unknown, tools: 'none' | 'absent', call: BackendCall): Promise<number | undefined> {
    const rendered = await this.client.askUpstream(
      '/v1/chat/completions/render',
      sample(model, tools),
      call,
      renderAnswer,
    );
    if (rendered.tokens !== undefined) return rendered.tokens;
    // Anthropic's form has to name one.
    const named = typeof model === 'string' ? model : (await this.client.models(call))[0]?.id;
    const body = anthropicSample(named, tools);
    const counted = await this.client.askUpstream('/v1/messages/count_tokens', body, call, countTokensAnswer);
    return counted.tokens;
  }
}

function sample(model: unknown, tools: 'none' | 'absent'): Buffer {
  const chosen = {
    tools: [{ type: 'function', function: { ...TOOL, parameters: PARAMETERS } }],
    tool_choice: 'none',
  };
  return Buffer.from(JSON.stringify({ model, messages: MESSAGES, ...(tools === 'none' ? chosen : {}) }));
}

function anthropicSample(model: unknown, tools: 'none' | 'absent'): Buffer {
  const chosen = { tools: [{ ...TOOL, input_schema: PARAMETERS }], tool_choice: { type: 'none' } };
  return Buffer.from(JSON.stringify({ model, messages: MESSAGES, ...(tools === 'none' ? chosen : {}) }));
}

class PerModel<T> {
  readonly #known = new LRUCache<string, Remembered<T>>({ max: MODELS });

  constructor(private readonly now: () => number) {}

  of(model: unknown): Remembered<T> {
    const key = typeof model === 'string' ? model : '';
    const known = this.#known.get(key) ?? new Remembered<T>(OLD_MS, this.now);
    this.#known.set(key, known);
    return known;
  }

  forget(): void {
    this.#known.clear();
  }
}

/** Whatever fails here is no failure of the count that wants to know. */
async function unlessFailed<T>(call: BackendCall, ask: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    call.signal.throwIfAborted();
    return undefined;
  }
}
