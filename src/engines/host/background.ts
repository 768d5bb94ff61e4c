/** What waits holds a request: with more than this nothing is gained. */
const MOST_WAITING = 32;

/** Work that nobody waits for: one piece at a time in the process, in the order it came, ended at the shutdown. */
export class Background {
  #hasEnded = false;
  #running: AbortController | undefined;
  readonly #queue: { readonly key: string; readonly work: (signal: AbortSignal) => Promise<void> }[] = [];

  /** A later piece of the same key takes the place of one that has not begun. */
  add(key: string, work: (signal: AbortSignal) => Promise<void>): void {
    if (this.#hasEnded) return;
    const waiting = this.#queue.findIndex((piece) => piece.key === key);
    if (waiting >= 0) this.#queue.splice(waiting, 1);
    this.#queue.push({ key, work });
    if (this.#queue.length > MOST_WAITING) this.#queue.shift();
    void this.#drain();
  }

  end(): void {
    this.#queue.length = 0;
    this.#hasEnded = true;
    this.#running?.abort();
  }

  async #drain(): Promise<void> {
    if (this.#running !== undefined) return;
    for (let piece = this.#queue.shift(); piece !== undefined; piece = this.#queue.shift()) {
      // One a piece: in Node.js 20 a signal keeps an entry of every one that `AbortSignal.any` makes of it.
      this.#running = new AbortController();
      try {
        await piece.work(this.#running.signal);
      } catch {
        // What comes of it is looked at when it is due.
      }
    }
    this.#running = undefined;
  }
}
