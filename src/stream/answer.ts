import type { ServerResponse } from 'node:http';
import type { ErrorShape } from './error-shape.js';

const NOTHING = Buffer.alloc(0);

/** An error of ours as it goes to the client: status, and a JSON body. */
export interface OwnError {
  readonly status: number;
  readonly body: string;
}

/**
 * The way of one answer to the client. Everything that reaches the client of an exchange goes through here, so
 * that nothing is written twice, after the end, or to a client that has gone.
 */
export class Answer {
  readonly #response: ServerResponse;
  #ended = false;
  #hasLength = false;

  /** @param errorShape how the client knows errors. */
  constructor(
    response: ServerResponse,
    readonly errorShape: ErrorShape = 'openai',
  ) {
    this.#response = response;
  }

  /** True once the head has gone out. */
  get begun(): boolean {
    return this.#response.headersSent;
  }

  /** True once nothing more can be written: ended, failed, or the client has gone. */
  get over(): boolean {
    return this.#ended || this.#response.destroyed;
  }

  /** Writes the head. `headers` is flat: name, value, name, value. */
  begin(status: number, statusMessage: string, headers: readonly string[]): void {
    if (this.over || this.begun) return;
    const names = headers as string[];
    // What comes in the same tick, often the whole answer, goes out with the head in one write.
    // The socket's cork: from Node 22 on, a response that ends while corked puts its end before its last chunks.
    const { socket } = this.#response;
    socket?.cork();
    process.nextTick(() => socket?.uncork());
    this.#hasLength = hasField(headers, 'content-length');
    this.#response.writeHead(status, printable(statusMessage), names);
    // Sends the head now; `flushHeaders` would write its bytes above 0x7f as UTF-8.
    this.#response.write(NOTHING);
  }

  /** Writes an SSE comment, which clients ignore. */
  comment(text: string): void {
    if (!this.over) this.#response.write(`: ${text}\n\n`);
  }

  /** @returns false where the client reads more slowly than this: wait for `onDrain`. */
  write(chunk: Buffer): boolean {
    return this.over ? true : this.#response.write(chunk);
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener);
  }

  end(): void {
    if (this.over) return;
    this.#ended = true;
    this.#response.end();
  }

  /**
   * Ends the answer because something failed. Before the head: the error, with its status. After it: the
   * connection is cut, so that a client sees an answer that broke off and never an invented end.
   */
  fail(error: OwnError, headers: readonly string[] = []): void {
    if (this.over) return;
    this.#ended = true;
    if (this.begun) {
      this.#cut();
      return;
    }
    this.#response.writeHead(error.status, [
      'content-type',
      'application/json',
      'content-length',
      String(Buffer.byteLength(error.body)),
      ...headers,
    ]);
    this.#response.end(error.body);
  }

  /** Cuts the connection: something of ours broke that has no answer. */
  abandon(): void {
    if (this.over) return;
    this.#ended = true;
    this.#cut();
  }

  #cut(): void {
    const { chunkedEncoding, socket } = this.#response;
    // To a client of HTTP/1.0 a plain close would be the answer's proper end.
    if (this.begun && !chunkedEncoding && !this.#hasLength) socket?.resetAndDestroy();
    // What was written goes out first: it is all that the client will get.
    if (this.begun && socket !== null && !socket.destroyed) socket.destroySoon();
    else this.#response.destroy();
  }

  /** Calls back once when the client goes before the answer's end. */
  onClientGone(listener: () => void): void {
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) listener();
    });
  }
}

/** Node refuses to write a reason phrase with anything else; it says nothing that the status does not. */
function printable(phrase: string): string {
  return phrase.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?');
}

function hasField(headers: readonly string[], name: string): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if ((headers[i] as string).toLowerCase() === name) return true;
  }
  return false;
}
