import { type Ask, checkCharacters, checkPrompt } from './limits.js';
import { badParameter, badRequest } from './refusal.js';
import { refuseLoneSurrogates } from './text.js';
import type { QwenTokenizer } from './tokenizer.js';

/** How a request wants its prompt shortened. */
export interface Truncation {
  /** Tokens to keep; -1: as many as the model takes; null: no shortening. */
  readonly truncatePromptTokens: number | null;
  /** The same as the request writes it. */
  readonly truncateText: string;
  readonly truncateFrom: 'left' | 'right';
}

/** Tokenises a prompt under the server's limits. @throws Refusal */
export async function countedPrompt(
  text: string,
  tokenizer: QwenTokenizer,
  ask: Ask,
  truncation: Truncation,
): Promise<readonly number[]> {
  const kept = keptTokens(truncation, ask);
  refuseLoneSurrogates(text);
  if (kept !== null) return truncated(await tokenizer.encodeInTurns(text), kept, truncation.truncateFrom);
  checkCharacters(ask, text);
  const ids = await tokenizer.encodeInTurns(text);
  checkPrompt(ask, ids.length, 'text');
  return ids;
}

/** The tokens that truncation keeps, or null. @throws Refusal for a number the server does not take */
export function keptTokens(truncation: Truncation, ask: Ask): number | null {
  const wanted = truncation.truncatePromptTokens;
  if (wanted === null) return null;
  const name = 'truncate_prompt_tokens';
  const shown = truncation.truncateText;
  const isOld = ask.vllm === '0.16';
  const most = isOld ? ask.maxModelLen - Math.max(ask.maxTokens ?? 0, 0) : ask.maxModelLen;
  if (wanted === -1) return most;
  if (isOld && wanted < 1) {
    throw badParameter(`${name} must be an integer >= 1 or -1, got ${shown}`, name, shown);
  }
  if (wanted > most) {
    const limit = isOld ? 'max_model_len - max_tokens' : 'max_model_len';
    throw badParameter(
      `${name}=${shown} cannot be greater than ${limit} = ${most}. Please request a smaller truncation size.`,
      name,
      shown,
    );
  }
  if (wanted === 0) throw badRequest('The decoder prompt cannot be empty');
  return wanted;
}

export function truncated(ids: readonly number[], kept: number, from: 'left' | 'right'): readonly number[] {
  if (ids.length <= kept) return ids;
  return from === 'left' ? ids.slice(-kept) : ids.slice(0, kept);
}
