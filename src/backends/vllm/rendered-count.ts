import { z } from 'zod';
import { editObject } from '../../body/edit-object.js';
import type { RawObject } from '../../body/raw-object.js';
import type { BodyReader } from '../calls/body-reader.js';
import { type OptionalCount, optionalCount } from './optional-count.js';

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

/** Reads an answer of `POST /v1/chat/completions/render`. */
export function renderAnswer(status: number): BodyReader<OptionalCount> {
  return optionalCount(status, {
    limit: LIMIT,
    notOffered: NOT_OFFERED,
    tokensOf: (answer) => rendered.parse(answer),
  });
}

/** From 0.30 on 403 without `--enable-scale-out`. */
const NOT_OFFERED = new Set([403, 404, 405, 501]);

/** The cap is decided on the count: here it would only be refused. */
const BESIDE = new Set(['max_tokens', 'max_completion_tokens', 'stream', 'stream_options']);

export function renderPayload(request: RawObject): Buffer {
  return editObject(request, { drop: BESIDE });
}
