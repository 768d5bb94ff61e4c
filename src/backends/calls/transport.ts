import { Agent } from 'undici';
import { type BackendContext, CountFailedError, ModelUnknownError } from '../contract.js';
import { AnswerHandler, type Failure, type Outcome, type ReaderOf } from './answer-handler.js';
import { lengthOf, requestBody } from './request-body.js';
import { Stop } from './stop.js';

/** uvicorn closes idle sockets after 5 s. */
const KEEP_ALIVE_MS = 4_000;
const CLOSED_SOCKET = new Set<unknown>(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

export interface HttpCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Flat: name, value, name, value. */
  readonly headers: readonly string[];
  /** In parts. */
  readonly body: readonly Buffer[] | null;
  readonly stop: Stop;
  /** From the call to the end of the answer. */
  readonly timeoutMs: number;
}

interface Target {
  readonly origin: string;
  readonly path: string;
}

/** Calls a tokenizer: sockets of its own, no redirects, no proxy variables, one deadline over all. */
export class Transport {
  readonly #agent: Agent;
  readonly #targets = new Map<string, Target>();
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
   * Rejects when the call is stopped, with what the reader throws, or with CountFailedError:
   * `timeout`, `unreachable`, or `bad_answer` for an answer that breaks off. Nothing of the network's own
   * messages is passed on: they name the address.
   */
  async call<T>(call: HttpCall, readerOf: ReaderOf<T>): Promise<T> {
    if (call.stop.stopped) throw new Error('stopped');
    const end = new Stop();
    call.stop.onStop = () => end.stop();
    let late = false;
    const deadline = setTimeout(() => {
      late = true;
      end.stop();
    }, call.timeoutMs);
    try {
      const outcome = await this.#attempts(call, readerOf, end);
      if ('value' in outcome) return outcome.value;
      if (call.stop.stopped) throw new Error('stopped');
      throw late ? new CountFailedError('timeout') : publicError(outcome);
    } finally {
      clearTimeout(deadline);
      call.stop.onStop = undefined;
    }
  }

  /** Ends every call in flight. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #attempts<T>(call: HttpCall, readerOf: ReaderOf<T>, end: Stop): Promise<Outcome<T>> {
    const connected = this.#connected;
    const outcome = await this.#attempt(call, readerOf, end);
    const reused = connected === this.#connected;
    // The server closed an idle socket while we wrote to it: that says nothing about the server.
    if (reused && !end.stopped && !('value' in outcome) && socketClosed(outcome)) {
      return this.#attempt(call, readerOf, end);
    }
    return outcome;
  }

  #attempt<T>(call: HttpCall, readerOf: ReaderOf<T>, end: Stop): Promise<Outcome<T>> {
    const { origin, path } = this.#target(call.url);
    const { method } = call;
    const headers = [...call.headers, 'accept', 'application/json', 'accept-encoding', 'identity'];
    if (call.body !== null) headers.push('content-length', String(lengthOf(call.body)));
    const body = call.body && requestBody(call.body);
    return new Promise((resolve) => {
      const handler = new AnswerHandler(readerOf, end, resolve);
      try {
        this.#agent.dispatch({ origin, path, method, headers, body }, handler);
      } catch (error) {
        handler.fail(error);
      }
    });
  }

  /** The URLs are a handful of configured ones. */
  #target(url: string): Target {
    let target = this.#targets.get(url);
    if (target === undefined) {
      const { origin, pathname, search } = new URL(url);
      target = { origin, path: `${pathname}${search}` };
      this.#targets.set(url, target);
    }
    return target;
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
