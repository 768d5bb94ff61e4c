import type { RememberingCall } from '../calls/remembered.js';
import type { BackendCall, CountCall } from '../contract.js';
import { countTokensAnswer } from './count-tokens.js';
import { PerModel } from './per-model.js';
import { renderAnswer } from './rendered-count.js';
import type { TokenizerClient } from './tokenizer-client.js';
import { unlessFailed } from './unless-failed.js';

/** From this version on `/tokenize` renders a chat as it is answered, with the same defaults, but for Harmony. */
const SAME_DEFAULTS = 18;
const TOOL = { name: 'look_up', description: 'Looks something up.' };
const PARAMETERS = { type: 'object', properties: { key: { type: 'string' } } };
const MESSAGES = [{ role: 'user', content: 'hello' }];
/** One token in the vocabulary of gpt-oss, whose chats are rendered as Harmony; several in most others. */
const HARMONY = '<|channel|>';

type Tools = 'none' | 'absent';

/**
 * What the upstream does that `/tokenize` does not show: found out with small samples, at the endpoints that render a
 * chat as Chat Completions does, `/v1/chat/completions/render` and `/v1/messages/count_tokens`.
 */
export class ServerTraits {
  readonly #hidesTools: PerModel<boolean | undefined>;
  readonly #offsets: PerModel<number | undefined>;
  readonly #rendered: PerModel<number | undefined>;
  readonly #isHarmony: PerModel<boolean>;

  constructor(
    private readonly client: TokenizerClient,
    now: () => number,
  ) {
    this.#hidesTools = new PerModel(now);
    this.#offsets = new PerModel(now);
    this.#rendered = new PerModel(now);
    this.#isHarmony = new PerModel(now);
  }

  /** Whether `tool_choice: none` hides the tools; `undefined` where that cannot be found out. */
  hidesTools(model: unknown, call: CountCall): Promise<boolean | undefined> {
    return unlessFailed(call, () =>
      this.#hidesTools.of(model).get(call, async (asking) => {
        const without = await this.#tokens(model, 'absent', { ...asking, fresh: call.fresh });
        if (without === undefined) return undefined;
        return (await this.#tokens(model, 'none', asking)) === without;
      }),
    );
  }

  /**
   * By how many tokens the server's rendering of a sample is longer than what `/tokenize` counts for it: other than 0
   * where chats are not rendered with the template that `/tokenize` uses. `undefined`: cannot be found out.
   */
  async offset(model: unknown, call: CountCall): Promise<number | undefined> {
    const measured = await unlessFailed(call, () =>
      this.#offsets.of(model).get(call, async (asking) => {
        const rendered = await this.#tokens(model, 'absent', { ...asking, fresh: call.fresh });
        if (rendered === undefined) return undefined;
        return rendered - (await this.client.sampleTokens(model, sample(model, 'absent'), asking));
      }),
    );
    if (measured !== undefined) return measured;
    return (await unlessFailed(call, () => this.#isKnownToBeSame(model, call))) === true ? 0 : undefined;
  }

  /** Whether `/v1/chat/completions/render` is offered; `undefined` where it fails. */
  rendersChats(model: unknown, call: CountCall): Promise<boolean | undefined> {
    return unlessFailed(call, async () => (await this.#renderedSample(model, call)) !== undefined);
  }

  forget(): void {
    for (const known of [this.#hidesTools, this.#offsets, this.#rendered, this.#isHarmony]) known.forget();
  }

  /** True where no sample is needed: the version tells, and the model is not gpt-oss. */
  async #isKnownToBeSame(model: unknown, call: CountCall): Promise<boolean> {
    // Which version counts elsewhere is not known.
    if (!this.client.endpoint(model, call).isUpstream) return false;
    if (((await this.client.version.minor(call)) ?? 0) < SAME_DEFAULTS) return false;
    return !(await this.#isHarmony.of(model).get(call, async (asking) => {
      const body = { model, prompt: HARMONY, add_special_tokens: false };
      return (await this.client.sampleTokens(model, Buffer.from(JSON.stringify(body)), asking)) === 1;
    }));
  }

  /** `undefined` where the server has neither endpoint. */
  async #tokens(model: unknown, tools: Tools, call: RememberingCall): Promise<number | undefined> {
    const rendered = await this.#renderedSample(model, call);
    if (rendered !== undefined) return tools === 'absent' ? rendered : this.#render(model, tools, call);
    // Anthropic's form has to name one.
    const named = typeof model === 'string' ? model : (await this.client.models(call))[0]?.id;
    const body = anthropicSample(named, tools);
    const counted = await this.client.askUpstream('/v1/messages/count_tokens', body, call, countTokensAnswer);
    return counted.tokens;
  }

  /** The sample without tools; `undefined` where the server offers no rendering. */
  #renderedSample(model: unknown, call: RememberingCall): Promise<number | undefined> {
    return this.#rendered.of(model).get(call, (asking) => this.#render(model, 'absent', asking));
  }

  async #render(model: unknown, tools: Tools, call: BackendCall): Promise<number | undefined> {
    const body = sample(model, tools);
    return (await this.client.askUpstream('/v1/chat/completions/render', body, call, renderAnswer)).tokens;
  }
}

function sample(model: unknown, tools: Tools): Buffer {
  const chosen = {
    tools: [{ type: 'function', function: { ...TOOL, parameters: PARAMETERS } }],
    tool_choice: 'none',
  };
  return Buffer.from(JSON.stringify({ model, messages: MESSAGES, ...(tools === 'none' ? chosen : {}) }));
}

function anthropicSample(model: unknown, tools: Tools): Buffer {
  const chosen = { tools: [{ ...TOOL, input_schema: PARAMETERS }], tool_choice: { type: 'none' } };
  return Buffer.from(JSON.stringify({ model, messages: MESSAGES, ...(tools === 'none' ? chosen : {}) }));
}
