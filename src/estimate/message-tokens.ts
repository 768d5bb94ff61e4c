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
  if (isRecord(message)) addFields(tally, message);
  else addContent(tally, message);
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
  const parts = Array.isArray(content) ? content : [content ?? ''];
  for (const part of parts) addPart(tally, part);
  if (Array.isArray(content)) tally.addTokens(content.length);
}

function addPart(tally: TextTally, part: unknown): void {
  if (typeof part === 'string') tally.add(part);
  else if (isRecord(part)) addTypedPart(tally, part);
  else addJson(tally, part);
}

function addTypedPart(tally: TextTally, part: Readonly<Record<string, unknown>>): void {
  const { type, text } = part;
  const kind = typeof type === 'string' ? type : Object.keys(part).join(' ');
  if (typeof text === 'string') tally.add(text);
  else if (IMAGE_PART.test(kind)) tally.addTokens(IMAGE_TOKENS);
  else if (MEDIA_PART.test(kind)) tally.addTokens(MEDIA_TOKENS);
  else addJson(tally, part);
}

function addToolCalls(tally: TextTally, calls: unknown): void {
  if (calls === undefined || calls === null) return;
  for (const call of Array.isArray(calls) ? calls : [calls]) {
    tally.addTokens(PER_TOOL_CALL);
    addToolCall(tally, call);
  }
}

function addToolCall(tally: TextTally, call: unknown): void {
  const called = isRecord(call) ? call.function : undefined;
  if (!isRecord(called)) {
    addJson(tally, call);
    return;
  }
  addContent(tally, called.name);
  const given = called.arguments;
  if (typeof given === 'string') tally.add(given);
  else addJson(tally, given ?? {});
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
