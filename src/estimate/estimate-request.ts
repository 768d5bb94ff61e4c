import { estimateTokens } from './estimate.js';
import { chatOfMessages } from './messages-shape.js';
import { chatOfResponse } from './responses-shape.js';
import { isRecord } from './shape.js';

/** Chats are what is estimated: a request to another endpoint is read as one that says the same. */
const CHAT_OF: ReadonlyMap<string, (request: Readonly<Record<string, unknown>>) => unknown> = new Map([
  ['/v1/responses', chatOfResponse],
  ['/v1/messages', chatOfMessages],
]);

/**
 * The prompt tokens of a generation request, about, and at least 1. Takes a parsed JSON value of any shape and never
 * throws.
 * @param path of the endpoint that it is sent to; default: Chat Completions.
 */
export function estimateRequest(request: unknown, path?: string): number {
  if (path === '/v1/completions' && isRecord(request)) return largestPrompt(request.prompt);
  const chatOf = path === undefined ? undefined : CHAT_OF.get(path);
  return estimateTokens(chatOf !== undefined && isRecord(request) ? chatOf(request) : request);
}

/** Of several prompts the largest counts; token ids are tokens. */
function largestPrompt(prompt: unknown): number {
  if (!Array.isArray(prompt)) return ofPrompt(prompt);
  if (prompt.some((part) => typeof part === 'number')) return ofPrompt(prompt);
  return prompt.reduce<number>((most, one) => Math.max(most, ofPrompt(one)), 1);
}

function ofPrompt(prompt: unknown): number {
  if (!Array.isArray(prompt)) return estimateTokens(prompt);
  return prompt.reduce<number>((sum, part) => sum + (typeof part === 'number' ? 1 : estimateTokens(part)), 0);
}
