import { noneSuffix } from './conversation.js';
import { badRequest } from './refusal.js';
import type { VllmVersion } from './version.js';

/** Half a surrogate pair cannot become UTF-8: the real tokenizer refuses it. */
export function refuseLoneSurrogates(text: string, vllm: VllmVersion): void {
  if (!/\p{Surrogate}/u.test(text)) return;
  throw badRequest(
    `TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]${noneSuffix(vllm)}`,
  );
}
