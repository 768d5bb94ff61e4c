import { z } from 'zod';
import { CountFailedError, type ModelDescription } from '../contract.js';

/** Lists of models beyond this are refused. In bytes. */
export const MODELS_LIMIT = 8 * 1024 * 1024;

const card = z.looseObject({
  id: z.string(),
  max_model_len: z.int().positive().optional().catch(undefined),
});
const list = z.looseObject({ data: z.array(card) });

/** @throws CountFailedError `bad_answer` */
export function readModels(body: Buffer): readonly ModelDescription[] {
  try {
    const { data } = list.parse(JSON.parse(body.toString('utf8')));
    return data.map(({ id, max_model_len }) => ({ id, contextLength: max_model_len }));
  } catch {
    throw new CountFailedError('bad_answer');
  }
}
