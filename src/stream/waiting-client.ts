import type { Answer } from './answer.js';

export interface WaitingOptions {
  /** Before the head goes out, in milliseconds: an error until then still has its own status. */
  readonly graceMs: number;
  /** Between comments, in milliseconds. */
  readonly everyMs: number;
  /** False where the client has to wait without a word: its credential may be refused yet. */
  readonly mayBegin: () => Promise<boolean>;
}

const HEAD = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
  'x-incontext-action',
  'pending',
];

/** Lets a streaming client know that it is not forgotten while its conversation is compressed. */
export class WaitingClient {
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(
    private readonly answer: Answer,
    private readonly options: WaitingOptions,
  ) {}

  start(): void {
    if (this.#timer !== undefined || this.#isOver) return;
    this.#timer = setTimeout(() => void this.#begin(), this.options.graceMs);
  }

  /** Ends the waiting; with the outcome as a comment, where comments have been sent. */
  stop(outcome: string): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.answer.begun) this.answer.comment(`incontext ${outcome}`);
  }

  async #begin(): Promise<void> {
    const may = await this.options.mayBegin().catch(() => false);
    if (this.#isOver || !may || this.answer.over) return;
    this.answer.begin(200, 'OK', HEAD);
    this.#comment();
  }

  #comment(): void {
    if (this.#isOver || this.answer.over) return;
    this.answer.comment('incontext compressing');
    this.#timer = setTimeout(() => this.#comment(), this.options.everyMs);
  }
}
