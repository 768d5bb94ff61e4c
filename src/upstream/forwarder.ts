import type { Readable } from 'node:stream';
import { type Agent, type Dispatcher, errors } from 'undici';
import { diedOnReuse } from './agent.js';
import { toUpstreamError, UpstreamError } from './errors.js';

export interface UpstreamRequest {
  readonly method: string;
  /** Path and query behind the upstream's base path, as the client wrote them. */
  readonly path: string;
  /** End-to-end fields, flat. */
  readonly headers: string[];
  /** A buffer can be sent again, a stream cannot. */
  readonly body: Buffer | Readable | null;
}

/** Receives one answer. Exactly one of `onEnd` and `onError` comes last, none of them after an abort. */
export interface UpstreamSink {
  onHead(status: number, statusMessage: string, rawHeaders: string[]): void;
  /** @returns false to pause until `resume()`. */
  onData(chunk: Buffer): boolean;
  onEnd(): void;
  onError(error: UpstreamError): void;
}

export interface UpstreamCall {
  abort(): void;
  resume(): void;
}

/** Sends requests upstream: the only place that does, for intercepted and passed-through requests alike. */
export class Forwarder {
  readonly #agent: Agent;
  /** For second attempts: none of its connections was used before. */
  readonly #freshAgent: Agent;
  readonly #origin: string;
  readonly #basePath: string;
  readonly host: string;

  constructor(createAgent: () => Agent, upstreamUrl: string) {
    const url = new URL(upstreamUrl);
    this.#agent = createAgent();
    this.#freshAgent = createAgent();
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.host = url.host;
  }

  /** Where `path` is upstream. */
  target(path: string): string {
    return this.#basePath + path;
  }

  send(request: UpstreamRequest, sink: UpstreamSink): UpstreamCall {
    const exchange = new UpstreamExchange(sink);
    const attempt = (agent: Agent, retry: (() => void) | undefined) => {
      exchange.retry = retry;
      agent.dispatch(
        {
          origin: this.#origin,
          path: this.target(request.path),
          method: request.method as Dispatcher.HttpMethod,
          headers: request.headers,
          body: request.body,
          reset: agent === this.#freshAgent,
        },
        exchange,
      );
    };
    try {
      const isReplayable = request.body === null || Buffer.isBuffer(request.body);
      attempt(this.#agent, isReplayable ? () => attempt(this.#freshAgent, undefined) : undefined);
    } catch (error) {
      exchange.fail(error);
    }
    return exchange;
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#freshAgent.destroy()]);
  }
}

/**
 * Takes undici's older handler: in front of the newer one it parses each answer's fields into an object, which nobody
 * here reads.
 */
class UpstreamExchange implements Dispatcher.DispatchHandler, UpstreamCall {
  retry: (() => void) | undefined;
  #abort: ((error: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #paused = false;
  #aborted = false;
  #ended = false;
  #isBodyless = false;
  readonly #sink: UpstreamSink;

  constructor(sink: UpstreamSink) {
    this.#sink = sink;
  }

  abort(): void {
    if (this.#ended || this.#aborted) return;
    this.#aborted = true;
    this.#abort?.(new UpstreamError('upstream_reset', 'aborted'));
  }

  resume(): void {
    // The connection may be another exchange's by now.
    if (!this.#paused || this.#ended) return;
    this.#paused = false;
    this.#resume?.();
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    if (this.#aborted) abort(new UpstreamError('upstream_reset', 'aborted'));
  }

  onHeaders(status: number, rawHeaders: Buffer[], resume: () => void, statusMessage: string): boolean {
    if (status < 200 || this.#aborted) return true;
    this.#resume = resume;
    this.retry = undefined;
    this.#isBodyless = status === 204 || status === 304;
    this.#sink.onHead(status, statusMessage, rawHeaders.map(latin1));
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#aborted || this.#sink.onData(chunk)) return true;
    this.#paused = true;
    return false;
  }

  onComplete(): void {
    if (this.#aborted) return;
    this.#ended = true;
    this.#sink.onEnd();
  }

  onError(error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    if (this.#aborted || this.#ended) return;
    // The length of a 304 is that of the answer it stands for (RFC 9110, section 8.6); undici waits for as much.
    if (this.#isBodyless && error instanceof errors.ResponseContentLengthMismatchError) {
      this.onComplete();
      return;
    }
    const { retry } = this;
    if (retry !== undefined && error instanceof Error && diedOnReuse(error)) {
      retry();
      return;
    }
    this.#ended = true;
    this.#sink.onError(toUpstreamError(error));
  }
}

function latin1(part: Buffer): string {
  return part.toString('latin1');
}
