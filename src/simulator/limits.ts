import { badParameter, badRequest, type Refusal } from './refusal.js';
import type { VllmVersion } from './version.js';

/** A prompt of so many characters per allowed token is refused before it is tokenised. */
const charactersPerToken = 128;

/** What a generation request asks for, before the prompt is known. */
export interface Ask {
  readonly vllm: VllmVersion;
  readonly maxModelLen: number;
  /** Tokens the answer may have; null: as many as fit. */
  readonly maxTokens: number | null;
  /** The same as the request writes it. */
  readonly maxTokensText: string;
  /** The field that held it. */
  readonly field: string;
  readonly minTokens: number;
}

/** Refuses caps no prompt could fit with. */
export function checkCap(ask: Ask): void {
  const { maxTokens, maxTokensText, maxModelLen, field } = ask;
  if (maxTokens === null || maxTokens <= maxModelLen) return;
  const limit =
    ask.vllm === '0.16'
      ? `cannot be greater than max_model_len=max_total_tokens=${maxModelLen}`
      : ` cannot be greater than max_model_len=${maxModelLen}`;
  throw badParameter(
    `${field}=${maxTokensText}${limit}. Please request fewer output tokens.`,
    field,
    maxTokensText,
  );
}

/** The most prompt tokens that this request may have: 0.16 subtracts the cap, 0.32 clamps it later. */
export function promptLimit(ask: Ask): number {
  return ask.vllm === '0.16' ? ask.maxModelLen - Math.max(ask.maxTokens ?? 0, 0) : ask.maxModelLen;
}

/** Refuses a text that is too long to be worth tokenising. */
export function checkCharacters(ask: Ask, text: string): void {
  const limit = promptLimit(ask);
  if (text.length <= limit * charactersPerToken) return;
  const characters = Array.from(text).length;
  if (characters <= limit * charactersPerToken) return;
  throw ask.vllm === '0.16'
    ? oldOverflow(ask, characters, 'characters')
    : badParameter(
        `This model's maximum context length is ${ask.maxModelLen} tokens. However, your prompt contains ${characters} characters (more than ${limit * charactersPerToken} characters, which is the upper bound for ${limit} input tokens). Please reduce the length of the input prompt.`,
        'input_text',
        characters,
      );
}

/** Refuses a prompt that is too long. `counted`: tokens seen; a text is only read up to one above the limit. */
export function checkPrompt(ask: Ask, counted: number, form: 'text' | 'ids'): void {
  const limit = promptLimit(ask);
  if (counted <= limit) return;
  const seen = form === 'text' ? limit + 1 : counted;
  if (ask.vllm === '0.16') throw oldOverflow(ask, seen, 'tokens');
  const amount = form === 'text' ? `at least ${seen}` : `${seen}`;
  throw badParameter(
    `This model's maximum context length is ${ask.maxModelLen} tokens. However, your prompt contains ${amount} input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt.`,
    'input_tokens',
    seen,
  );
}

function oldOverflow(ask: Ask, seen: number, unit: 'tokens' | 'characters'): Refusal {
  const requested = Math.max(ask.maxTokens ?? 0, 0);
  return badParameter(
    `You passed ${seen} input ${unit} and requested ${requested} output tokens. However, the model's context length is only ${ask.maxModelLen} tokens, resulting in a maximum input length of ${promptLimit(ask)} tokens. Please reduce the length of the input prompt.`,
    unit === 'tokens' ? 'input_tokens' : 'input_text',
    seen,
  );
}

/** The tokens that will be generated at most. */
export function effectiveCap(ask: Ask, promptTokens: number): number {
  const cap = Math.min(ask.maxTokens ?? Infinity, ask.maxModelLen - promptTokens);
  if (cap < 1) {
    const shown = cap === ask.maxTokens ? ask.maxTokensText : String(cap);
    throw badParameter(`max_tokens must be at least 1, got ${shown}.`, 'max_tokens', shown);
  }
  if (ask.minTokens <= cap) return cap;
  throw badRequest(`min_tokens must be less than or equal to max_tokens=${cap}, got ${ask.minTokens}.`);
}
