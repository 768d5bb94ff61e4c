import type { Streams } from '../cli/streams.js';

const REPLACE_LINE = '\x1b[1A\x1b[2K';

/** Writes lines of which the last may be replaced by what comes next. */
export class Screen {
  readonly #streams: Streams;
  readonly #live: boolean;
  #replaceable = false;

  constructor(streams: Streams, live: boolean) {
    this.#streams = streams;
    this.#live = live;
  }

  /** For good, on standard output. */
  say(text: string): void {
    this.#streams.out(this.#replaceable ? REPLACE_LINE + text : text);
    this.#replaceable = false;
  }

  /** Until the next line comes; only where lines can be replaced. It has to fit on one line. */
  hint(text: string): void {
    if (!this.#live) return;
    this.say(text);
    this.#replaceable = true;
  }

  /** A hint where lines can be replaced, a line on standard error otherwise. */
  progress(text: string): void {
    if (this.#live) this.hint(text);
    else this.#streams.err(text);
  }
}
