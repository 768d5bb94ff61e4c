import { CountFailedError, ModelUnknownError } from '../contract.js';
import type { BodyReader } from './body-reader.js';
import { errorMessage } from './error-message.js';

/** How much of a refusal's body is looked at. In bytes. */
const LOOKED_AT = 64 * 1024;
const MODEL_UNKNOWN = /^The model `[\s\S]*` does not exist/;

/** The server answered with a status other than 200. */
export class StatusError extends CountFailedError {
  constructor(readonly status: number) {
    super(status >= 300 && status < 400 ? 'redirect' : 'status', `HTTP ${status}`);
  }

  /** A refusal of the request, from a server that is up. */
  get isRefusal(): boolean {
    return this.status >= 400 && this.status < 500;
  }
}

/**
 * Reads the body of such an answer to its end, so that the socket can be used again, and throws what it says:
 * ModelUnknownError for a 404 that names the model, StatusError for everything else, a 404 of the path included.
 */
export function refusal(status: number): BodyReader<never> {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      size += chunk.length;
      if (size > LOOKED_AT) throw new StatusError(status);
      chunks.push(chunk);
    },
    end() {
      const message = status === 404 ? errorMessage(Buffer.concat(chunks).toString('utf8')) : undefined;
      if (message !== undefined && MODEL_UNKNOWN.test(message)) throw new ModelUnknownError('model_unknown');
      throw new StatusError(status);
    },
    broken: () => new StatusError(status),
  };
}
