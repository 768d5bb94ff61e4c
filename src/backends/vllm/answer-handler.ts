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

/** Feeds an answer to its reader as the bytes come, and settles once. */
export class AnswerHandler<T> implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #reader: BodyReader<T> | undefined;
  #settled = false;

  constructor(
    private readonly readerOf: ReaderOf<T>,
    private readonly stop: Stop,
    private readonly resolve: (outcome: Outcome<T>) => void,
  ) {
    stop.onStop = () => this.fail(new Error('stopped'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('aborted'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) this.#reader = this.readerOf(status);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#orFail(() => this.#reader?.push(chunk));
  }

  onResponseEnd(): void {
    this.#orFail(() => {
      if (this.#reader !== undefined) this.#settle({ value: this.#reader.end() });
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.fail(this.#reader?.broken?.() ?? error);
  }

  fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle({ error, beforeAnswer: this.#reader === undefined });
    this.#controller?.abort(new Error('aborted'));
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
