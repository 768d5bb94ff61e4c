import { z } from 'zod';
import { editObject } from '../../body/edit-object.js';
import type { RawObject } from '../../body/raw-object.js';
import { type BodyReader, wholeBody } from '../calls/body-reader.js';
import { StatusError } from '../calls/refusal.js';
import { CountFailedError } from '../contract.js';
import { vllmRefusal } from './refusal.js';

/** Longer answers are refused. In bytes. */
const LIMIT = 64 * 1024 * 1024;

/** A chat without a token is none that a server renders. */
const ids = z.array(z.unknown()).min(1);
/** Since 0.17 or later, and before: messages and prompts. */
const rendered = z.union([
  z.looseObject({ token_ids: ids }).transform(({ token_ids }) => token_ids.length),
  z
    .tuple([z.unknown(), z.tuple([z.looseObject({ prompt_token_ids: ids })])])
    .transform(([, [prompt]]) => prompt.prompt_token_ids.length),
]);

/** An object, so that it can be kept in the cache. */
export interface RenderedCount {
  /** `undefined`: the server offers no rendering. */
  readonly tokens: number | undefined;
}

/** Reads an answer of `POST /v1/chat/completions/render`. */
export function renderAnswer(status: number): BodyReader<RenderedCount> {
  if (status === 200) return wholeBody(LIMIT, readTokens);
  const refused = vllmRefusal(status);
  return {
    push: (chunk) => refused.push(chunk),
    end() {
      try {
        return refused.end();
      } catch (error) {
        if (error instanceof StatusError && NOT_OFFERED.has(error.status)) return { tokens: undefined };
        throw error;
      }
    },
    broken: () => new StatusError(status),
  };
}

/** From 0.30 on 403 without `--enable-scale-out`. */
const NOT_OFFERED = new Set([403, 404, 405, 501]);

/** The cap is decided on the count: here it would only be refused. */
const BESIDE = new Set(['max_tokens', 'max_completion_tokens', 'stream', 'stream_options']);

export function renderPayload(request: RawObject): Buffer {
  return editObject(request, { drop: BESIDE });
}

function readTokens(body: Buffer): RenderedCount {
  try {
    return { tokens: rendered.parse(JSON.parse(body.toString('utf8'))) };
  } catch {
    throw new CountFailedError('bad_answer');
  }
}
