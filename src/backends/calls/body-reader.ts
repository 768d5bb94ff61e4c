import { CountFailedError } from '../contract.js';

/** Takes an answer's body piece by piece. Either method may throw: the call fails with that error. */
export interface BodyReader<T> {
  push(chunk: Buffer): void;
  end(): T;
  /** What the call fails with where the body breaks off. Default: CountFailedError `bad_answer`. */
  broken?(): Error;
}

/**
 * Collects a body of at most `limit` bytes and reads it at its end.
 * Throws CountFailedError `bad_answer` beyond the limit.
 */
export function wholeBody<T>(limit: number, read: (body: Buffer) => T): BodyReader<T> {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    push(chunk) {
      size += chunk.length;
      if (size > limit) throw new CountFailedError('bad_answer');
      chunks.push(chunk);
    },
    end: () => read(Buffer.concat(chunks)),
  };
}
