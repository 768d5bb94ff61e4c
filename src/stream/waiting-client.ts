import type { Answer } from './answer.js';

/** In milliseconds. */
export interface WaitingTimes {
  /** Before the head goes out: an error until then still has its own status. */
  readonly graceMs: number;
  /** Between comments. */
  readonly everyMs: number;
}

export const WAITING_TIMES: WaitingTimes = { graceMs: 2000, everyMs: 10_000 };

export interface WaitingOptions extends WaitingTimes {
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
  #isWaiting = false;

  constructor(
    private readonly answer: Answer,
    private readonly options: WaitingOptions,
  ) {}

  start(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    if (this.answer.begun) this.#comment();
    else this.#timer = setTimeout(() => void this.#begin(), this.options.graceMs);
  }

  /** Ends the waiting; with the outcome as a comment, where comments have been sent. */
  stop(outcome: string): void {
    clearTimeout(this.#timer);
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    if (this.answer.begun) this.answer.comment(`incontext ${outcome}`);
  }

  async #begin(): Promise<void> {
    const may = await this.options.mayBegin().catch(() => false);
    if (!this.#isWaiting || !may || this.answer.over) return;
    this.answer.begin(200, 'OK', HEAD);
    this.#comment();
  }

  #comment(): void {
    if (!this.#isWaiting || this.answer.over) return;
    this.answer.comment('incontext compressing');
    this.#timer = setTimeout(() => this.#comment(), this.options.everyMs);
  }
}
