import { Agent } from 'undici';
import { type BackendContext, CountFailedError, ModelUnknownError } from '../contract.js';
import { AnswerHandler, type Failure, type Outcome, type ReaderOf } from './answer-handler.js';

/** uvicorn closes idle sockets after 5 s. */
const KEEP_ALIVE_MS = 4_000;
const CLOSED_SOCKET = new Set<unknown>(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

export interface HttpCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  readonly signal: AbortSignal;
  /** From the call to the end of the answer. */
  readonly timeoutMs: number;
}

/** Calls a tokenizer: sockets of its own, no redirects, no proxy variables, one deadline over all. */
export class Transport {
  readonly #agent: Agent;
  #connected = 0;

  constructor(context: Pick<BackendContext, 'tls' | 'connectTimeoutSeconds'>) {
    const { ca, insecure } = context.tls;
    this.#agent = new Agent({
      connect: {
        timeout: context.connectTimeoutSeconds * 1000,
        rejectUnauthorized: !insecure,
        ...(ca === undefined ? {} : { ca }),
      },
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#agent.on('connect', () => {
      this.#connected += 1;
    });
  }

  /**
   * Rejects with the signal's reason when it aborts, with what the reader throws, or with CountFailedError:
   * `timeout`, `unreachable`, or `bad_answer` for an answer that breaks off. Nothing of the network's own
   * messages is passed on: they name the address.
   */
  async call<T>(call: HttpCall, readerOf: ReaderOf<T>): Promise<T> {
    const { signal } = call;
    signal.throwIfAborted();
    const stop = new AbortController();
    const abort = (): void => stop.abort();
    let late = false;
    const deadline = setTimeout(() => {
      late = true;
      stop.abort();
    }, call.timeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    try {
      const outcome = await this.#attempts(call, readerOf, stop.signal);
      if ('value' in outcome) return outcome.value;
      signal.throwIfAborted();
      throw late ? new CountFailedError('timeout') : publicError(outcome);
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends every call in flight. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #attempts<T>(call: HttpCall, readerOf: ReaderOf<T>, stop: AbortSignal): Promise<Outcome<T>> {
    const connected = this.#connected;
    const outcome = await this.#attempt(call, readerOf, stop);
    const reused = connected === this.#connected;
    // The server closed an idle socket while we wrote to it: that says nothing about the server.
    if (reused && !stop.aborted && !('value' in outcome) && socketClosed(outcome)) {
      return this.#attempt(call, readerOf, stop);
    }
    return outcome;
  }

  #attempt<T>(call: HttpCall, readerOf: ReaderOf<T>, stop: AbortSignal): Promise<Outcome<T>> {
    const { origin, pathname, search } = new URL(call.url);
    const { method, body } = call;
    const headers = { ...call.headers, accept: 'application/json', 'accept-encoding': 'identity' };
    return new Promise((resolve) => {
      const handler = new AnswerHandler(readerOf, stop, resolve);
      try {
        this.#agent.dispatch({ origin, path: `${pathname}${search}`, method, headers, body }, handler);
      } catch (error) {
        handler.fail(error);
      }
    });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined;
}

function socketClosed({ error, beforeAnswer }: Failure): boolean {
  return beforeAnswer && CLOSED_SOCKET.has(codeOf(error));
}

function publicError({ error, beforeAnswer }: Failure): Error {
  if (error instanceof CountFailedError || error instanceof ModelUnknownError) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new CountFailedError('timeout');
  const detail = typeof code === 'string' ? code : undefined;
  return new CountFailedError(beforeAnswer ? 'unreachable' : 'bad_answer', detail);
}
