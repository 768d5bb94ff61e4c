import { errorMessage } from '../calls/error-message.js';

/** What gateways and vLLM itself put in front of a message: `litellm.BadRequestError: `, `ValueError: `. */
const PREFIX = /^(?:[\w.]*(?:Error|Exception)\b[\s:-]*)+/;

/**
 * Every wording of vLLM 0.9 to 0.33 for a request that does not fit its context. They hold from the beginning
 * of the message only: a validation error may quote anything the client sent.
 */
const WORDINGS = [
  /^This model's maximum context length is \d+ tokens/,
  /^You passed \d+ input (?:tokens|characters) and requested \d+ output tokens\. However, the model's context length is only \d+ tokens/,
  /^'max_tokens' or 'max_completion_tokens' is too large: \d+\. This model's maximum context length is \d+ tokens/,
  // The space is missing on 0.16.
  /^max_(?:completion_|output_)?tokens=\d+ ?cannot be greater than max_model_len=/,
  // What is left beside a prompt that fills the context to the last token.
  /^max_tokens must be at least 1, got 0\b/,
  /^The engine prompt length \d+ exceeds the max_model_len \d+/,
  /^The (?:\w+ )?prompt \([^)]*\) is (?:longer than the maximum model length of \d+|too long to fit into the model)/,
];

/** True where a generation endpoint's answer refuses the request because it does not fit the context. */
export function isVllmOverflow(status: number, body: string): boolean {
  if (status !== 400) return false;
  const message = errorMessage(body)?.trimStart().replace(PREFIX, '');
  return message !== undefined && WORDINGS.some((wording) => wording.test(message));
}
