import { type ModelCard, positive } from '../calls/model-list.js';

/** Names that servers give the context they were started with, and behind those what the model could take. */
const NAMES = [
  'max_model_len',
  'loaded_context_length',
  'context_length',
  'context_window',
  'max_context_length',
] as const;

/** The context length on a model's card, whatever the server calls it. */
export function contextLengthOn(card: ModelCard): number | undefined {
  const lengths = [
    positive(card.max_model_len),
    ofMeta(card.meta),
    ...NAMES.map((name) => positive(card[name])),
  ];
  return lengths.find((length) => length !== undefined);
}

/** llama.cpp's. */
function ofMeta(meta: unknown): number | undefined {
  return typeof meta === 'object' && meta !== null ? positive(Reflect.get(meta, 'n_ctx')) : undefined;
}
