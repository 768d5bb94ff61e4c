import type { Message } from '../../../../src/conversation/message.js';
import { type Built, roughly } from './build.js';

/** What a run through a window costs and keeps. */
export interface Figures {
  readonly requests: number;
  readonly passes: number;
  readonly summaryCalls: number;
  readonly summaryTokens: number;
  /** Mean share of the previous request that the next one begins with. */
  readonly prefix: number;
  /** Mean share of the shorter of both. */
  readonly prefixOfShorter: number;
  /** Prompt tokens that no earlier request begins with. */
  readonly uncached: number;
  readonly largest: number;
  readonly rawTokens: number;
  readonly irreducible: number;
}

export interface ReplayOptions {
  readonly window: number;
  readonly required: number;
  readonly target: number;
  readonly overhead: number;
  /** Sees every request as it goes upstream, with the client's whole history. */
  readonly onRequest?: (view: readonly Message[], history: readonly Message[]) => void;
}

const bare = ({ role, content, tool_calls, tool_call_id }: Message) => ({
  role,
  content,
  tool_calls,
  tool_call_id,
});
const rendered = (view: readonly Message[]) =>
  view.map((message) => `<${message.role}>${JSON.stringify(bare(message))}\n`).join('');

function commonPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at;
}

/** Plays a conversation as a host would: one request before each assistant message, a pass where one is due. */
export async function replay(
  built: Built,
  history: readonly Message[],
  options: ReplayOptions,
): Promise<Figures> {
  const run = new Run(built, options);
  for (const [index, message] of history.entries()) {
    if (message.role === 'assistant') await run.request(history.slice(0, index));
    run.add(message);
  }
  return run.figures(history);
}

class Run {
  #view: Message[] = [];
  #sent: string[] = [];
  #shares: number[] = [];
  #shorterShares: number[] = [];
  #passes = 0;
  #uncached = 0;
  #largest = 0;
  #irreducible = 0;

  constructor(
    private readonly built: Built,
    private readonly options: ReplayOptions,
  ) {}

  add(message: Message): void {
    this.#view = [...this.#view, structuredClone(message)];
  }

  async request(history: readonly Message[]): Promise<void> {
    const { window, required, overhead, onRequest } = this.options;
    if (roughly(this.#view) + overhead + required - 1 >= window) await this.#compress();
    onRequest?.(this.#view, history);
    this.#measure(rendered(this.#view), roughly(this.#view) + overhead);
  }

  async #compress(): Promise<void> {
    const { target, overhead } = this.options;
    for (let pass = 0; pass < 3; pass += 1) {
      const currentTokens = roughly(this.#view) + overhead;
      if (pass > 0 && !this.built.engine.hasContentToCompress(structuredClone(this.#view))) return;
      try {
        const result = await this.built.engine.compress(structuredClone(this.#view), {
          currentTokens,
          targetTokens: target,
        });
        if (roughly(result) >= roughly(this.#view)) throw new Error('grew');
        this.#view = result;
        this.#passes += 1;
      } catch (error) {
        if ((error as Error).name !== 'IrreducibleError') throw error;
        this.#irreducible += 1;
        return;
      }
      if (roughly(this.#view) + overhead <= target) return;
    }
  }

  #measure(text: string, tokens: number): void {
    const previous = this.#sent.at(-1);
    if (previous !== undefined) {
      const common = commonPrefix(previous, text);
      this.#shares.push(common / previous.length);
      this.#shorterShares.push(common / Math.min(previous.length, text.length));
    }
    const best = Math.max(0, ...this.#sent.map((sent) => commonPrefix(sent, text)));
    this.#uncached += tokens * (1 - best / text.length);
    this.#largest = Math.max(this.#largest, tokens);
    this.#sent.push(text);
  }

  figures(history: readonly Message[]): Figures {
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const { calls } = this.built;
    return {
      requests: this.#sent.length,
      passes: this.#passes,
      summaryCalls: calls.length,
      summaryTokens: calls.reduce((sum, call) => sum + call.tokens + roughly(call.answer), 0),
      prefix: mean(this.#shares),
      prefixOfShorter: mean(this.#shorterShares),
      uncached: Math.round(this.#uncached),
      largest: this.#largest,
      rawTokens: roughly(history),
      irreducible: this.#irreducible,
    };
  }
}
