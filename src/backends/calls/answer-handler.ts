import type { Dispatcher } from 'undici';
import type { BodyReader } from './body-reader.js';
import type { Stop } from './stop.js';

/** Chooses how an answer's body is read. */
export type ReaderOf<T> = (status: number) => BodyReader<T>;

export interface Failure {
  readonly error: unknown;
  /** True where not even the answer's head came. */
  readonly beforeAnswer: boolean;
}

export type Outcome<T> = Failure | { readonly value: T };

/**
 * Feeds an answer to its reader as the bytes come, and settles once. Undici's older handler: in front of the newer one
 * it parses the fields of each answer, which nobody here reads.
 */
export class AnswerHandler<T> implements Dispatcher.DispatchHandler {
  #abort: ((error: Error) => void) | undefined;
  #reader: BodyReader<T> | undefined;
  #settled = false;

  constructor(
    private readonly readerOf: ReaderOf<T>,
    private readonly stop: Stop,
    private readonly resolve: (outcome: Outcome<T>) => void,
  ) {
    stop.onStop = () => this.fail(new Error('stopped'));
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    if (this.#settled) abort(new Error('aborted'));
  }

  onHeaders(status: number): boolean {
    if (status >= 200) this.#reader = this.readerOf(status);
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.#orFail(() => this.#reader?.push(chunk));
    return true;
  }

  onComplete(): void {
    this.#orFail(() => {
      if (this.#reader !== undefined) this.#settle({ value: this.#reader.end() });
    });
  }

  onError(error: Error): void {
    this.fail(this.#reader?.broken?.() ?? error);
  }

  fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle({ error, beforeAnswer: this.#reader === undefined });
    this.#abort?.(new Error('aborted'));
  }

  #orFail(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.fail(error);
    }
  }

  #settle(outcome: Outcome<T>): void {
    if (this.#settled) return;
    this.#settled = true;
    this.stop.onStop = undefined;
    this.resolve(outcome);
  }
}
