/** How OpenAI and Anthropic end their streams. No string of JSON has a line end. */
const AT_END =
  /(?:^|\n)(?:data: ?\[DONE\]|event: ?(?:message_stop|response\.(?:completed|incomplete|failed))\r?\ndata:[^\n]*)\s+$/;

const NOTHING: Buffer = Buffer.alloc(0);

/** Tells whether a stream has had its last event: some clients go then, before the server ends the answer. */
export class LastEvent {
  /** Servers write one event at a time; it may come in two pieces. */
  #before = NOTHING;
  #last = NOTHING;

  onData(chunk: Buffer): void {
    this.#before = this.#last;
    this.#last = chunk;
  }

  get isOut(): boolean {
    return AT_END.test(Buffer.concat([this.#before, this.#last]).toString('latin1'));
  }
}
