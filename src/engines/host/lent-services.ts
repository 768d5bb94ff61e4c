import type { Message } from '../../conversation/message.js';
import { renderMessages } from '../../conversation/view.js';
import { estimateTokens } from '../../estimate/estimate.js';
import {
  type CompleteOptions,
  type Completion,
  CompletionError,
  completeOptions,
  type EngineServices,
} from '../services.js';
import { othersTurn } from '../turns.js';
import type { ExchangeLink } from './exchange-link.js';

/** A pass while it runs: on whose behalf, until when, and what the engine has written in it. */
export interface RunningPass {
  readonly link: ExchangeLink;
  readonly signal: AbortSignal;
  /** In the time of `performance.now()`; `Infinity`: none. */
  readonly deadlineAt: number;
  readonly writes: Map<string, string>;
}

export interface ServiceSources {
  /** What the store has under a key, as JSON text. */
  readonly stored: (key: string) => Promise<string | undefined>;
  readonly log: EngineServices['log'];
}

/** The services of one engine instance. They answer while a pass of its own runs, and never after its deadline. */
export class LentServices implements EngineServices {
  #pass: RunningPass | undefined;
  #isRevoked = false;

  constructor(private readonly sources: ServiceSources) {}

  lend(pass: RunningPass): void {
    this.#pass = pass;
  }

  takeBack(): void {
    this.#pass = undefined;
  }

  /** For an instance that is thrown away while its work goes on. */
  revoke(): void {
    this.#isRevoked = true;
    this.#pass = undefined;
  }

  complete(messages: readonly Message[], options?: Partial<CompleteOptions>): Promise<Completion> {
    return heard(this.#complete(messages, completeOptions(options)));
  }

  async #complete(messages: readonly Message[], options: CompleteOptions): Promise<Completion> {
    const pass = this.#pass;
    if (pass === undefined) throw new CompletionError('failed');
    const signal = options.signal ? AbortSignal.any([pass.signal, options.signal]) : pass.signal;
    return await pass.link.complete(messages, { ...options, signal });
  }

  countTokens(messages: readonly Message[]): Promise<number> {
    return heard(this.#countTokens(messages));
  }

  async #countTokens(messages: readonly Message[]): Promise<number> {
    const pass = this.#pass;
    if (pass === undefined) return this.estimateTokens(messages);
    await othersTurn(pass.signal);
    const request = renderMessages(pass.link.request, messages);
    return await pass.link.count(request, pass.signal, false);
  }

  estimateTokens(value: string | Message | readonly Message[]): number {
    if (typeof value === 'string') return estimateTokens(value);
    return estimateTokens({ messages: Array.isArray(value) ? value : [value] });
  }

  readonly store = {
    get: (key: string): Promise<unknown> => heard(this.#get(key)),
    set: (key: string, value: unknown): Promise<void> => heard(this.#set(key, value)),
  };

  async #get(key: string): Promise<unknown> {
    const text = this.#pass?.writes.get(key) ?? (await this.sources.stored(key));
    return text === undefined ? undefined : JSON.parse(text);
  }

  async #set(key: string, value: unknown): Promise<void> {
    if (this.#pass === undefined) throw new TypeError('the pass is over: nothing is written any more');
    this.#pass.writes.set(key, JSON.stringify(value) ?? 'null');
  }

  log(level: 'info' | 'warn', code: string, counts: Readonly<Record<string, number>> = {}): void {
    if (!this.#isRevoked) this.sources.log(level, code, counts);
  }

  remainingMs(): number {
    return this.#pass === undefined ? 0 : Math.max(0, this.#pass.deadlineAt - performance.now());
  }
}

/** What an engine asks for and does not wait for may fail: a rejection that nobody hears would end the process. */
function heard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
