import { hash } from 'node:crypto';
import { canonicalJson, canonicalJsonText } from './canonical-json.js';

type Fields = Readonly<Record<string, unknown>>;

/** Parts that are text, and the member that holds it: as vLLM reads them. */
const TEXT_MEMBER: ReadonlyMap<unknown, string> = new Map([
  ['text', 'text'],
  ['input_text', 'text'],
  ['output_text', 'text'],
  ['refusal', 'refusal'],
]);
/** Parts that clients do not send back faithfully. */
const REASONING_PARTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning']);
/** Members that hold an image, audio or a video, in whatever part they stand. */
const MEDIA = ['image_url', 'audio_url', 'video_url', 'input_audio'] as const;

/**
 * What a message says, in one spelling: equal for all forms in which clients send the same message back. Only
 * members that say something count: role, content, name, the calls and what they answer. A result that says which call
 * it answers has its name from there: Hermes Agent sends it within a turn, and no longer afterwards. Takes anything.
 */
export function canonicalMessage(message: unknown): string {
  if (!isFields(message)) return canonicalJson(['odd', message]);
  const { role, content, name, tool_call_id: answers } = message;
  const answered = plain(answers);
  const named = role === 'tool' && answered !== null ? null : plain(name);
  const rest = [named, answered, calls(message.tool_calls), call(message.function_call)];
  const refusal = plain(message.refusal);
  const tools = message.tools === undefined || message.tools === null ? null : canonicalJson(message.tools);
  const said = [plain(role), canonicalContent(content), ...rest, refusal, tools];
  while (said.at(-1) === null) said.pop();
  return JSON.stringify(said);
}

/** The hash m of a message: 32 bytes in base64url. */
export function contentHash(message: unknown): string {
  return hash('sha256', canonicalMessage(message), 'base64url');
}

/** The text of a content that is nothing but text; `undefined`: it is something else, or more. */
export function plainText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) return undefined;
  const texts: string[] = [];
  for (const part of content) {
    if (isFields(part) && REASONING_PARTS.has(part.type)) continue;
    const text = partText(part);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts.join('\n');
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `null` for no content at all. */
function canonicalContent(content: unknown): string | readonly unknown[] | null {
  const text = plainText(content);
  if (text !== undefined) return text.trimEnd() || null;
  if (!Array.isArray(content)) return ['value', canonicalJson(content)];
  return ['parts', ...content.map(canonicalPart).filter((part) => part !== null)];
}

function canonicalPart(part: unknown): string | readonly unknown[] | null {
  const text = partText(part);
  if (text !== undefined) return text.trimEnd() || null;
  if (!isFields(part)) return ['value', canonicalJson(part)];
  if (REASONING_PARTS.has(part.type)) return null;
  const kind = MEDIA.find((name) => part[name] !== undefined && part[name] !== null);
  if (kind !== undefined) return [kind, source(part[kind])];
  const { cache_control: _, ...said } = part;
  return ['value', canonicalJson(said)];
}

function partText(part: unknown): string | undefined {
  if (typeof part === 'string') return part;
  if (!isFields(part)) return undefined;
  const member = TEXT_MEMBER.get(part.type);
  const text = member === undefined ? undefined : part[member];
  return typeof text === 'string' ? text : undefined;
}

/** Where a medium comes from, or what it is. */
function source(medium: unknown): unknown {
  if (typeof medium === 'string') return medium;
  if (!isFields(medium)) return canonicalJson(medium);
  const { url, data } = medium;
  return typeof url === 'string' ? url : typeof data === 'string' ? data : canonicalJson(medium);
}

function calls(toolCalls: unknown): unknown {
  if (toolCalls === undefined || toolCalls === null) return null;
  if (!Array.isArray(toolCalls)) return { value: canonicalJson(toolCalls) };
  return toolCalls.length === 0 ? null : toolCalls.map(toolCall);
}

function toolCall(value: unknown): unknown {
  if (!isFields(value) || !isFields(value.function)) return { value: canonicalJson(value) };
  return [plain(value.id), call(value.function)];
}

function call(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (!isFields(value)) return { value: canonicalJson(value) };
  return [plain(value.name), callArguments(value.arguments)];
}

/** No arguments and an empty object are the same, as in vLLM. */
function callArguments(value: unknown): unknown {
  if (value === undefined || value === null) return '{}';
  if (typeof value !== 'string') return canonicalJson(value);
  if (value.trim() === '') return '{}';
  return canonicalJsonText(value) ?? { text: value.trimEnd() };
}

/** A text as it is; nothing, `null` and `""` alike; anything else as JSON. */
function plain(value: unknown): unknown {
  if (value === undefined || value === null || value === '') return null;
  return typeof value === 'string' ? value : { value: canonicalJson(value) };
}
