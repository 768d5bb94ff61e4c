import { addJson } from './json-tokens.js';
import type { TextTally } from './text-tokens.js';

/** Tokens that an image counts, whatever its size or encoding: one of about a million pixels on current models. */
export const IMAGE_TOKENS = 1024;
/** Tokens that an audio, video or file part counts, likewise. */
export const MEDIA_TOKENS = 1024;

/** Begin and end of a message. */
const PER_MESSAGE = 6;
/** What stands around a tool's result, and around a tool call. */
const PER_TOOL_RESULT = 8;
const PER_TOOL_CALL = 16;
/** What stands around an assistant's reasoning. */
const PER_REASONING = 6;

const IMAGE_PART = /image/;
const MEDIA_PART = /audio|video|file/;

/**
 * Adds what a chat template renders of one message. Members that no template reads count nothing, the proxy's
 * private fields among them; values of a wrong type count as JSON.
 */
export function addMessage(tally: TextTally, message: unknown): void {
  tally.addTokens(PER_MESSAGE);
  if (typeof message !== 'object' || message === null || Array.isArray(message)) addContent(tally, message);
  else addFields(tally, message as Record<string, unknown>);
}

function addFields(tally: TextTally, fields: Readonly<Record<string, unknown>>): void {
  const reasoning = fields.reasoning ?? fields.reasoning_content;
  if (fields.role === 'tool' || fields.role === 'function') tally.addTokens(PER_TOOL_RESULT);
  if (reasoning !== undefined && reasoning !== null) tally.addTokens(PER_REASONING);
  const { role, name, tool_call_id: callId, content, refusal } = fields;
  for (const rendered of [role, name, callId, reasoning, content, refusal]) addContent(tally, rendered);
  addToolCalls(tally, fields.tool_calls);
  if (fields.function_call !== undefined) addToolCalls(tally, [{ function: fields.function_call }]);
}

function addContent(tally: TextTally, content: unknown): void {
  if (content === undefined || content === null) return;
  if (!Array.isArray(content)) return addPart(tally, content);
  for (const part of content) {
    tally.addTokens(1);
    addPart(tally, part);
  }
}

function addPart(tally: TextTally, part: unknown): void {
  if (typeof part === 'string') return tally.add(part);
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return addJson(tally, part);
  const { type, text } = part as Record<string, unknown>;
  if (typeof text === 'string') return tally.add(text);
  const kind = typeof type === 'string' ? type : Object.keys(part).join(' ');
  if (IMAGE_PART.test(kind)) return tally.addTokens(IMAGE_TOKENS);
  if (MEDIA_PART.test(kind)) return tally.addTokens(MEDIA_TOKENS);
  addJson(tally, part);
}

function addToolCalls(tally: TextTally, calls: unknown): void {
  if (calls === undefined || calls === null) return;
  if (!Array.isArray(calls)) return addJson(tally, calls);
  for (const call of calls) {
    tally.addTokens(PER_TOOL_CALL);
    addToolCall(tally, call);
  }
}

function addToolCall(tally: TextTally, call: unknown): void {
  const called: unknown =
    typeof call === 'object' && call !== null ? Reflect.get(call, 'function') : undefined;
  if (typeof called !== 'object' || called === null) return addJson(tally, call);
  const { name, arguments: given } = called as Record<string, unknown>;
  addContent(tally, name);
  if (typeof given === 'string') tally.add(given);
  else addJson(tally, given ?? {});
}
