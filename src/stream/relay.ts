import type { UpstreamError } from '../upstream/errors.js';
import type { Forwarder, UpstreamCall, UpstreamRequest, UpstreamSink } from '../upstream/forwarder.js';
import { clientResponseHeaders, headerValue } from '../upstream/headers.js';
import type { Answer } from './answer.js';
import { errorEvents } from './error-shape.js';
import { refusalInBand } from './in-band-error.js';
import { LastEvent } from './last-event.js';
import { ownError, ownErrorFields } from './own-error.js';

/** An answer that was read whole and has not gone to the client. */
export interface HeldAnswer {
  readonly status: number;
  readonly statusMessage: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** How an answer ended. */
export type RelayEnd =
  /** `status`: what the client got. All of it, or a stream up to its last event. */
  | { readonly outcome: 'complete'; readonly status: number }
  /** `status`: what had gone out, 0 where nothing had. */
  | { readonly outcome: 'client_abort'; readonly status: number }
  | { readonly outcome: 'upstream_error'; readonly status: number; readonly error: UpstreamError }
  | { readonly outcome: 'held'; readonly answer: HeldAnswer };

export interface RelayOptions {
  /** Fields of ours for the answer's head, flat; asked when the head goes out. */
  readonly ownHeaders?: ((status: number) => string[]) | undefined;
  /** True to hold an answer of this head back and resolve with it; one over `HOLD_LIMIT` goes out all the same. */
  readonly hold?: ((status: number, rawHeaders: readonly string[]) => boolean) | undefined;
  /** Reads along what goes to the client of a 200 answer. */
  readonly onData?: ((chunk: Buffer) => void) | undefined;
}

/** The longest answer that is held back, in bytes. */
export const HOLD_LIMIT = 65_536;

/** Sends a request upstream and its answer to the client, byte for byte. Resolves when both are done. */
export function relay(
  forwarder: Forwarder,
  request: UpstreamRequest,
  answer: Answer,
  options: RelayOptions = {},
): Promise<RelayEnd> {
  return new Promise((resolve) => {
    let call: UpstreamCall | undefined;
    const sink = new RelaySink(answer, options, resolve);
    answer.onDrain(() => call?.resume());
    answer.onClientGone(() => {
      call?.abort();
      resolve({ outcome: sink.hasLastEvent ? 'complete' : 'client_abort', status: sink.status });
    });
    if (answer.over) resolve({ outcome: 'client_abort', status: 0 });
    else call = forwarder.send(request, sink);
  });
}

/** Sends an answer that was held back to the client after all. */
export function release(held: HeldAnswer, answer: Answer, ownHeaders: string[]): void {
  if (answer.begun) {
    answer.write(Buffer.from(refusalInBand(held.status, held.body, answer.errorShape)));
    answer.end();
    return;
  }
  answer.begin(held.status, held.statusMessage, clientResponseHeaders(held.rawHeaders, ownHeaders));
  answer.write(held.body);
  answer.end();
}

class RelaySink implements UpstreamSink {
  status = 0;
  #held: { status: number; statusMessage: string; rawHeaders: readonly string[] } | undefined;
  #chunks: Buffer[] = [];
  #size = 0;
  /** The client of a stream was given its head while it waited: errors have to come as events. */
  readonly #isEarly: boolean;
  #hasWritten = false;
  #isRefused = false;
  readonly #lastEvent = new LastEvent();

  constructor(
    private readonly answer: Answer,
    private readonly options: RelayOptions,
    private readonly resolve: (end: RelayEnd) => void,
  ) {
    this.#isEarly = answer.begun;
  }

  /** True for a stream that went out to its last event. */
  get hasLastEvent(): boolean {
    return this.status === 200 && this.#lastEvent.isOut;
  }

  onHead(status: number, statusMessage: string, rawHeaders: string[]): void {
    if (this.options.hold?.(status, rawHeaders) === true) this.#held = { status, statusMessage, rawHeaders };
    else this.#begin(status, statusMessage, rawHeaders);
  }

  onData(chunk: Buffer): boolean {
    if (this.#held === undefined && !this.#isRefused) return this.#write(chunk);
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#isRefused) {
      if (this.#size > HOLD_LIMIT) this.#chunks.pop();
      return true;
    }
    return this.#size > HOLD_LIMIT ? this.#letGo() : true;
  }

  onEnd(): void {
    if (this.#held !== undefined) {
      this.resolve({ outcome: 'held', answer: { ...this.#held, body: Buffer.concat(this.#chunks) } });
      return;
    }
    if (this.#isRefused) {
      const body = Buffer.concat(this.#chunks);
      this.#write(Buffer.from(refusalInBand(this.status, body, this.answer.errorShape)));
    }
    this.answer.end();
    this.resolve({ outcome: 'complete', status: this.status });
  }

  onError(error: UpstreamError): void {
    if (this.#held !== undefined) this.#letGo();
    const { errorShape } = this.answer;
    const own = ownError(error.code, errorShape);
    if (!this.answer.begun) this.status = own.status;
    if (this.#isEarly && !this.#hasWritten) {
      this.#write(Buffer.from(errorEvents(own.status, ownErrorFields(error.code), errorShape)));
      this.answer.end();
    } else this.answer.fail(own, this.options.ownHeaders?.(own.status));
    this.resolve({ outcome: 'upstream_error', status: this.status, error });
  }

  #begin(status: number, statusMessage: string, rawHeaders: readonly string[]): void {
    this.status = status;
    this.#isRefused = this.#isEarly && status !== 200;
    if (!this.#isEarly) this.answer.begin(status, statusMessage, this.#headers(status, rawHeaders));
  }

  #letGo(): boolean {
    const held = this.#held;
    if (held === undefined) return true;
    this.#held = undefined;
    this.#begin(held.status, held.statusMessage, held.rawHeaders);
    if (this.#isRefused) return true;
    return this.#chunks.splice(0).reduce((_, chunk) => this.#write(chunk), true);
  }

  #write(chunk: Buffer): boolean {
    this.#hasWritten = true;
    if (this.status === 200) {
      this.#lastEvent.onData(chunk);
      this.options.onData?.(chunk);
    }
    return this.answer.write(chunk);
  }

  /** An event stream gets `x-accel-buffering: no`, so that an nginx in front does not hold it back. */
  #headers(status: number, rawHeaders: readonly string[]): string[] {
    const ours = this.options.ownHeaders?.(status) ?? [];
    const isStream = headerValue(rawHeaders, 'content-type')?.startsWith('text/event-stream') === true;
    if (ours.length > 0 && isStream && headerValue(rawHeaders, 'x-accel-buffering') === undefined) {
      ours.push('x-accel-buffering', 'no');
    }
    return clientResponseHeaders(rawHeaders, ours);
  }
}
