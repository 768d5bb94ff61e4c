import { z } from 'zod';
import type { RawObject } from '../../body/raw-object.js';
import type { BodyReader } from '../calls/body-reader.js';
import { type OptionalCount, optionalCount } from './optional-count.js';

const LIMIT = 64 * 1024;
const counted = z.looseObject({ input_tokens: z.int().nonnegative() });

/** Reads an answer of `POST /v1/messages/count_tokens`. */
export function countTokensAnswer(status: number): BodyReader<OptionalCount> {
  return optionalCount(status, {
    limit: LIMIT,
    notOffered: NO_ENDPOINT,
    tokensOf: (answer) => counted.parse(answer).input_tokens,
  });
}

const NO_ENDPOINT = new Set([404, 405]);

/** Before 0.32 `count_tokens` reads neither how much the model is to think, nor that it is not to. */
export function saysHowToThink(request: RawObject): boolean {
  const { effort } = Object(request.value('output_config'));
  const { type } = Object(request.value('thinking'));
  return type === 'disabled' || (effort !== undefined && effort !== null);
}
