import { z } from 'zod';
import { CountFailedError } from '../contract.js';
import type { CountingPath } from './counting-paths.js';

/** Answers beyond this are refused: with `/tokenize`, some ten million tokens. In bytes. */
export const ANSWER_LIMIT = 64 * 1024 * 1024;

/** An object, so that it can be kept in the cache. */
export interface TokenCount {
  readonly tokens: number;
}

const counted = z.looseObject({ input_tokens: z.int().nonnegative() });
const tokenized = z.looseObject({ tokens: z.array(z.unknown()) });

/** @throws CountFailedError `bad_answer` */
export function readCount(body: Buffer, { takes }: CountingPath): TokenCount {
  try {
    const answer: unknown = JSON.parse(body.toString('utf8'));
    const tokens =
      takes === 'request' ? counted.parse(answer).input_tokens : tokenized.parse(answer).tokens.length;
    return { tokens };
  } catch {
    throw new CountFailedError('bad_answer');
  }
}
