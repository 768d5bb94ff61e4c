import type { RawObject } from '../body/raw-object.js';

const QUOTE = 0x22;
const OPENING_BRACKET = 0x5b;

export function isChat(body: RawObject): boolean {
  return startsWith(body, 'messages', OPENING_BRACKET);
}

/** A text, token ids, or a list of either. What is no text to count, as embeddings, is the server's alone to know. */
export function isCompletion(body: RawObject): boolean {
  if (isGiven(body, 'prompt_embeds') || isGiven(body, 'suffix')) return false;
  if (startsWith(body, 'prompt', QUOTE)) return true;
  if (!startsWith(body, 'prompt', OPENING_BRACKET)) return false;
  const prompt = body.value('prompt');
  if (!Array.isArray(prompt) || prompt.length === 0) return false;
  return isTokenIds(prompt) || prompt.every(isText) || prompt.every(isTokenIds);
}

/** Members of a Responses request that stand for a part of the prompt which only the server has. */
const ELSEWHERE = ['previous_response_id', 'conversation', 'prompt', 'previous_input_messages'] as const;

/** With `truncation` the server shortens the input itself, so that the cap fits. */
export function isResponse(body: RawObject): boolean {
  if (ELSEWHERE.some((name) => isGiven(body, name))) return false;
  if (body.has('truncation') && body.value('truncation') !== 'disabled') return false;
  return startsWith(body, 'input', QUOTE) || startsWith(body, 'input', OPENING_BRACKET);
}

export function isMessages(body: RawObject): boolean {
  return startsWith(body, 'messages', OPENING_BRACKET);
}

function startsWith(body: RawObject, name: string, byte: number): boolean {
  return body.raw(name)?.[0] === byte;
}

function isGiven(body: RawObject, name: string): boolean {
  return body.has(name) && body.text(name) !== 'null';
}

function isText(prompt: unknown): boolean {
  return typeof prompt === 'string';
}

function isTokenIds(prompt: unknown): boolean {
  return Array.isArray(prompt) && prompt.every((id) => Number.isSafeInteger(id) && id >= 0);
}
