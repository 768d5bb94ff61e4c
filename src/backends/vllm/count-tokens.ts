import { z } from 'zod';
import type { RawObject } from '../../body/raw-object.js';
import { type BodyReader, wholeBody } from '../calls/body-reader.js';
import { StatusError } from '../calls/refusal.js';
import { CountFailedError } from '../contract.js';
import { vllmRefusal } from './refusal.js';

const LIMIT = 64 * 1024;
const counted = z.looseObject({ input_tokens: z.int().nonnegative() });

/** An object, so that it can be kept in the cache. */
export interface MessagesCount {
  /** `undefined`: the server has no such endpoint, as before 0.22. */
  readonly tokens: number | undefined;
}

/** Reads an answer of `POST /v1/messages/count_tokens`. */
export function countTokensAnswer(status: number): BodyReader<MessagesCount> {
  if (status === 200) return wholeBody(LIMIT, readCount);
  const refused = vllmRefusal(status);
  return {
    push: (chunk) => refused.push(chunk),
    end() {
      try {
        return refused.end();
      } catch (error) {
        // No fault of the server, and no sign that it is another one.
        if (error instanceof StatusError && NO_ENDPOINT.has(error.status)) return { tokens: undefined };
        throw error;
      }
    },
    broken: () => new StatusError(status),
  };
}

const NO_ENDPOINT = new Set([404, 405]);

function readCount(body: Buffer): MessagesCount {
  try {
    return { tokens: counted.parse(JSON.parse(body.toString('utf8'))).input_tokens };
  } catch {
    throw new CountFailedError('bad_answer');
  }
}

/** Before 0.32 `count_tokens` reads neither how much the model is to think, nor that it is not to. */
export function saysHowToThink(request: RawObject): boolean {
  const { effort } = Object(request.value('output_config'));
  const { type } = Object(request.value('thinking'));
  return type === 'disabled' || (effort !== undefined && effort !== null);
}
