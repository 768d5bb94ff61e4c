import type { RawObject } from '../../body/raw-object.js';
import { readLaxInt } from './caps.js';

const TEXT_PARTS = new Set(['text', 'input_text', 'output_text', 'refusal', 'thinking', 'tool_reference']);

/** The tokens of the prompt after `truncate_prompt_tokens`, which vLLM applies to prompts of text only. */
export function truncatedTokens(request: RawObject, tokens: number): number {
  const kept = truncation(request);
  return kept !== undefined && kept < tokens && isAllText(request.value('messages')) ? kept : tokens;
}

/** The same for a prompt of a completion: it has no other parts. */
export function truncatedPrompt(request: RawObject, tokens: number): number {
  return Math.min(truncation(request) ?? tokens, tokens);
}

/** vLLM refuses a cap above the context length less `truncate_prompt_tokens`. `undefined`: no such limit. */
export function truncationLimit(request: RawObject, contextLength: number): number | undefined {
  const kept = truncation(request);
  return kept === undefined ? undefined : Math.max(0, contextLength - kept);
}

/** Negative values stand for the model's own maximum: nothing is cut. */
function truncation(request: RawObject): number | undefined {
  const text = request.text('truncate_prompt_tokens');
  const kept = text === undefined ? undefined : readLaxInt(text);
  return kept !== undefined && kept >= 0 ? kept : undefined;
}

function isAllText(messages: unknown): boolean {
  return Array.isArray(messages) && messages.every((message) => isText(member(message, 'content')));
}

function isText(content: unknown): boolean {
  if (content === undefined || content === null || typeof content === 'string') return true;
  return Array.isArray(content) && content.every(isTextPart);
}

function isTextPart(part: unknown): boolean {
  if (typeof part === 'string') return true;
  const type = member(part, 'type');
  return typeof type === 'string' && TEXT_PARTS.has(type);
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
