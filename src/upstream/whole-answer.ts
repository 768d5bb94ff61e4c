import type { UpstreamError } from './errors.js';
import type { Forwarder, UpstreamCall, UpstreamSink } from './forwarder.js';

/** The longest answer that is read, in bytes. */
const MOST_ANSWER_BYTES = 1024 * 1024;

/** A JSON request of the proxy's own. */
export interface OwnRequest {
  readonly path: string;
  readonly body: Buffer;
  /** The value of `Authorization`. */
  readonly credential: string | undefined;
  /** The value of `x-api-key`. */
  readonly apiKey?: string | undefined;
}

export interface WholeAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** Why a request of the proxy's own has no answer. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
  constructor(readonly code: 'aborted' | 'too_long' | 'unreachable') {
    super(code);
  }
}

/**
 * Sends a JSON request of the proxy's own, and reads the answer whole.
 * @throws NoAnswerError; the signal's reason where it has aborted before
 */
export function wholeAnswer(
  forwarder: Forwarder,
  { path, body, credential, apiKey }: OwnRequest,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  const headers = [
    'host',
    forwarder.host,
    'content-type',
    'application/json',
    'content-length',
    String(body.length),
  ];
  if (credential !== undefined) headers.push('authorization', credential);
  if (apiKey !== undefined) headers.push('x-api-key', apiKey);
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let call: UpstreamCall | undefined;
    const stop = (code: NoAnswerError['code']): void => {
      call?.abort();
      end();
      reject(new NoAnswerError(code));
    };
    const onAbort = () => stop('aborted');
    const end = () => signal.removeEventListener('abort', onAbort);
    signal.addEventListener('abort', onAbort, { once: true });
    const onAnswer = (answer: WholeAnswer) => {
      end();
      resolve(answer);
    };
    call = forwarder.send({ method: 'POST', path, headers, body }, new CollectingSink(onAnswer, stop));
  });
}

class CollectingSink implements UpstreamSink {
  #status = 0;
  #size = 0;
  readonly #chunks: Buffer[] = [];

  constructor(
    private readonly onAnswer: (answer: WholeAnswer) => void,
    private readonly onFailure: (code: NoAnswerError['code']) => void,
  ) {}

  onHead(status: number): void {
    this.#status = status;
  }

  onData(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size <= MOST_ANSWER_BYTES) this.#chunks.push(chunk);
    else this.onFailure('too_long');
    return true;
  }

  onEnd(): void {
    this.onAnswer({ status: this.#status, body: Buffer.concat(this.#chunks) });
  }

  onError(_error: UpstreamError): void {
    this.onFailure('unreachable');
  }
}
