import { jsonTokens } from './json-tokens.js';
import { textTokens } from './text-tokens.js';

/** Tokens that an image counts, whatever its size or encoding: one of about a million pixels on current models. */
export const IMAGE_TOKENS = 1024;
/** Tokens that an audio, video or file part counts, likewise. */
export const MEDIA_TOKENS = 1024;

/** Role, begin and end of a message. */
const PER_MESSAGE = 7;
/** What stands around a tool's result, and around a tool call. */
const PER_TOOL_RESULT = 8;
const PER_TOOL_CALL = 16;
/** What stands around an assistant's reasoning. */
const PER_REASONING = 6;

const IMAGE_PART = /image/;
const MEDIA_PART = /audio|video|file/;

/**
 * Tokens that a chat template renders of one message, about. Members that no template reads count nothing, the
 * proxy's private fields among them; values of a wrong type count as JSON.
 */
export function messageTokens(message: unknown): number {
  if (typeof message !== 'object' || message === null) return PER_MESSAGE + jsonTokens(message);
  if (Array.isArray(message)) return PER_MESSAGE + contentTokens(message);
  const fields: Readonly<Record<string, unknown>> = message as Record<string, unknown>;
  const reasoning = fields.reasoning ?? fields.reasoning_content;
  let tokens = PER_MESSAGE + contentTokens(fields.content) + contentTokens(fields.refusal);
  if (fields.role === 'tool' || fields.role === 'function') tokens += PER_TOOL_RESULT;
  if (reasoning !== undefined && reasoning !== null) tokens += PER_REASONING + contentTokens(reasoning);
  tokens += contentTokens(fields.name) + contentTokens(fields.tool_call_id);
  tokens += toolCallsTokens(fields.tool_calls);
  if (fields.function_call !== undefined) tokens += toolCallsTokens([{ function: fields.function_call }]);
  return tokens;
}

function contentTokens(content: unknown): number {
  if (content === undefined || content === null) return 0;
  if (typeof content === 'string') return textTokens(content);
  if (!Array.isArray(content)) return partTokens(content);
  let tokens = 0;
  for (const part of content) tokens += 1 + partTokens(part);
  return tokens;
}

function partTokens(part: unknown): number {
  if (typeof part === 'string') return textTokens(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return jsonTokens(part);
  const { type, text } = part as Record<string, unknown>;
  if (typeof text === 'string') return textTokens(text);
  const kind = typeof type === 'string' ? type : Object.keys(part).join(' ');
  if (IMAGE_PART.test(kind)) return IMAGE_TOKENS;
  return MEDIA_PART.test(kind) ? MEDIA_TOKENS : jsonTokens(part);
}

function toolCallsTokens(calls: unknown): number {
  if (calls === undefined || calls === null) return 0;
  if (!Array.isArray(calls)) return jsonTokens(calls);
  let tokens = 0;
  for (const call of calls) tokens += PER_TOOL_CALL + toolCallTokens(call);
  return tokens;
}

function toolCallTokens(call: unknown): number {
  const called: unknown =
    typeof call === 'object' && call !== null ? Reflect.get(call, 'function') : undefined;
  if (typeof called !== 'object' || called === null) return jsonTokens(call);
  const { name, arguments: given } = called as Record<string, unknown>;
  const givenTokens = typeof given === 'string' ? textTokens(given) : jsonTokens(given ?? {});
  return contentTokens(name) + givenTokens;
}
