import { CountFailedError } from '../contract.js';
import type { BodyReader } from './body-reader.js';

/** How much of a refusal's body is looked at. In bytes. */
const LOOKED_AT = 64 * 1024;

/** The server answered with a status other than 200. */
export class StatusError extends CountFailedError {
  constructor(readonly status: number) {
    super(status >= 300 && status < 400 ? 'redirect' : 'status', `HTTP ${status}`);
  }
}

/**
 * Reads the body of such an answer to its end, so that the socket can be used again, and throws what `judge` makes of
 * it, StatusError by default.
 */
export function refusal(status: number, judge?: (body: string) => Error | undefined): BodyReader<never> {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      size += chunk.length;
      if (size > LOOKED_AT) throw new StatusError(status);
      chunks.push(chunk);
    },
    end() {
      throw judge?.(Buffer.concat(chunks).toString('utf8')) ?? new StatusError(status);
    },
    broken: () => new StatusError(status),
  };
}
