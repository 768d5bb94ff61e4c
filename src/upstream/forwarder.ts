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

class UpstreamExchange implements Dispatcher.DispatchHandler, UpstreamCall {
  retry: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
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
    this.#controller?.abort(new UpstreamError('upstream_reset', 'aborted'));
  }

  resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(new UpstreamError('upstream_reset', 'aborted'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusMessage = '',
  ): void {
    if (status < 200 || this.#aborted) return;
    this.retry = undefined;
    this.#isBodyless = status === 204 || status === 304;
    this.#sink.onHead(status, statusMessage, textHeaders(controller.rawHeaders));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#aborted) return;
    if (!this.#sink.onData(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#aborted) return;
    this.#ended = true;
    this.#sink.onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    if (this.#aborted || this.#ended) return;
    // The length of a 304 is that of the answer it stands for (RFC 9110, section 8.6); undici waits for as much.
    if (this.#isBodyless && error instanceof errors.ResponseContentLengthMismatchError) {
      this.onResponseEnd();
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

function textHeaders(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')));
}
