import { z } from 'zod';
import type { Kind } from './kind.js';

const SHARE = z.number().gt(0).max(1);
const THRESHOLDS_RULE =
  'must map parts of model names, none of them empty, to numbers greater than 0 and at most 1';

/** Thresholds by a part of the model's name. */
export const thresholdTable: Kind<Readonly<Record<string, number>>> = {
  schema: z.record(z.string().min(1), SHARE),
  fromText: () => undefined,
  rule: THRESHOLDS_RULE,
  placeholder: 'TABLE',
  show: (table) => JSON.stringify(table),
};
