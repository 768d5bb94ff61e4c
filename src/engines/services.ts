import type { Message } from '../conversation/message.js';

export interface CompleteOptions {
  /** The longest answer in tokens. */
  readonly maxTokens: number;
  readonly signal?: AbortSignal | undefined;
}

const MOST_TOKENS = 1024;

/** With what counts where an engine says nothing. */
export function completeOptions(given: Partial<CompleteOptions> = {}): CompleteOptions {
  return { ...given, maxTokens: given.maxTokens ?? MOST_TOKENS };
}

export interface Completion {
  readonly text: string;
  readonly finishReason: string | undefined;
}

/**
 * Why an auxiliary request gave no text. `refused`: the credential is not accepted (401, 402, 403); `unavailable`: no
 * connection, or a status of 408, 429 and 5xx; `failed`: anything else, an answer that is empty or too late included.
 */
export type CompletionFailure = 'refused' | 'unavailable' | 'failed';

export class CompletionError extends Error {
  override readonly name = 'CompletionError';
  constructor(readonly failure: CompletionFailure) {
    super(failure);
  }
}

/** What an engine keeps of its own, by conversation. Values are JSON. Writes of a pass are committed with its result. */
export interface EngineStore {
  get(key: string): Promise<unknown>;
  /** Rejects once the pass is over: what an engine writes after its deadline is lost. */
  set(key: string, value: unknown): Promise<void>;
}

/**
 * What the host lends to an instance, for its conversation. Requests that it makes go to the upstream with the
 * caller's credential (or to a configured server with its own), under the same budget rule, and end with the exchange.
 */
export interface EngineServices {
  /**
   * One request of the engine's own. The prompt should be one user message; it is never compressed.
   * @param options `maxTokens` is 1024 unless given.
   * @throws CompletionError
   */
  complete(messages: readonly Message[], options?: Partial<CompleteOptions>): Promise<Completion>;
  /**
   * P of the current request with these messages in place of its own, template, tools and all: exact, or the estimate
   * with its margin where counting fails. Bookkeeping members are ignored.
   */
  countTokens(messages: readonly Message[]): Promise<number>;
  /** The rough counter: quick, and off by some percent. Takes a text, a message, or a list of messages. */
  estimateTokens(value: string | Message | readonly Message[]): number;
  readonly store: EngineStore;
  /** Only codes and counts; never a word of a message. */
  log(level: 'info' | 'warn', code: string, counts?: Readonly<Record<string, number>>): void;
  /** Milliseconds until the pass is thrown away; `Infinity` without a deadline. */
  remainingMs(): number;
}
