import { z } from 'zod';
import { CountFailedError, type ModelDescription } from '../contract.js';

/** Lists of models beyond this are refused. In bytes. */
export const MODELS_LIMIT = 8 * 1024 * 1024;

const card = z.looseObject({ id: z.string() });
const list = z.looseObject({ data: z.array(z.unknown()) });

/** One model in the answer of `GET /v1/models`. */
export type ModelCard = z.infer<typeof card>;

/** @throws CountFailedError `bad_answer` */
export function readCards(body: Buffer): readonly ModelCard[] {
  try {
    const { data } = list.parse(JSON.parse(body.toString('utf8')));
    // One odd card must not hide the others.
    const cards = data.flatMap((one) => card.safeParse(one).data ?? []);
    if (cards.length < Math.min(1, data.length)) throw new TypeError('no card is one of a model');
    return cards;
  } catch {
    throw new CountFailedError('bad_answer');
  }
}

/** A number of tokens on a card, `undefined` where it is none. */
export function positive(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** @throws CountFailedError `bad_answer` */
export function readModels(
  body: Buffer,
  lengthOf: (card: ModelCard) => number | undefined,
): readonly ModelDescription[] {
  return readCards(body).map((one) => ({ id: one.id, contextLength: lengthOf(one) }));
}
