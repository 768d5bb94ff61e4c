import { ErrorBelow } from './refusal.js';

/** Half a surrogate pair cannot become UTF-8: the real tokenizer refuses it. */
export function refuseLoneSurrogates(text: string): void {
  if (!/\p{Surrogate}/u.test(text)) return;
  throw new ErrorBelow(
    'TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]',
  );
}
