import { type BodyReader, wholeBody } from '../calls/body-reader.js';
import { StatusError } from '../calls/refusal.js';
import { CountFailedError } from '../contract.js';
import { vllmRefusal } from './refusal.js';

/** An object, so that it can be kept in the cache. */
export interface OptionalCount {
  /** `undefined`: the server has no such endpoint, or does not offer it. */
  readonly tokens: number | undefined;
}

interface OptionalEndpoint {
  /** Longer answers are refused. In bytes. */
  readonly limit: number;
  /** The statuses of a server without it: no fault of the server, and no sign that it is another one. */
  readonly notOffered: ReadonlySet<number>;
  /** Whatever it throws is a bad answer. */
  readonly tokensOf: (answer: unknown) => number;
}

/** Reads an answer of an endpoint that counts, and that not every vLLM has. */
export function optionalCount(
  status: number,
  { limit, notOffered, tokensOf }: OptionalEndpoint,
): BodyReader<OptionalCount> {
  if (status === 200) return wholeBody(limit, (body) => ({ tokens: read(body, tokensOf) }));
  const refused = vllmRefusal(status);
  return {
    push: (chunk) => refused.push(chunk),
    end() {
      try {
        return refused.end();
      } catch (error) {
        if (error instanceof StatusError && notOffered.has(error.status)) return { tokens: undefined };
        throw error;
      }
    },
    broken: () => new StatusError(status),
  };
}

function read(body: Buffer, tokensOf: OptionalEndpoint['tokensOf']): number {
  try {
    return tokensOf(JSON.parse(body.toString('utf8')));
  } catch {
    throw new CountFailedError('bad_answer');
  }
}
