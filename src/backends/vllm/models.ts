import { z } from 'zod';
import { CountFailedError, type ModelDescription } from '../contract.js';

/** Lists of models beyond this are refused. In bytes. */
export const MODELS_LIMIT = 8 * 1024 * 1024;

const card = z.looseObject({
  id: z.string(),
  max_model_len: z.int().positive().optional().catch(undefined),
});
const list = z.looseObject({ data: z.array(z.unknown()) });

/** @throws CountFailedError `bad_answer` */
export function readModels(body: Buffer): readonly ModelDescription[] {
  try {
    const { data } = list.parse(JSON.parse(body.toString('utf8')));
    // One odd card must not hide the others.
    const models = data.flatMap((one) => {
      const { success, data: model } = card.safeParse(one);
      return success ? [{ id: model.id, contextLength: model.max_model_len }] : [];
    });
    if (models.length < Math.min(1, data.length)) throw new TypeError('no card is one of a model');
    return models;
  } catch {
    throw new CountFailedError('bad_answer');
  }
}
