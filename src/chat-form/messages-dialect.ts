import { isFields } from '../conversation/canonical.js';
import type { Dialect, ListElement } from './chat-form.js';
import { type Fields, mapAll, membersBeside } from './fields.js';
import { argumentsOf } from './tool-input.js';
import { writeMessages } from './write-messages.js';

/**
 * Anthropic's Messages: thoughts, text and calls of an assistant are one message of a chat; each result of a tool is one
 * of its own, and what a person says beside results another. Blocks keep all their members.
 */
export const MESSAGES_DIALECT: Dialect = {
  list: 'messages',
  head: 'system',
  read: (elements) =>
    mapAll(elements, (element) => {
      const messages = messagesOf(element);
      return messages && { messages: messages.map((one) => JSON.stringify(one)), original: element.bytes };
    }),
  write: writeMessages,
};

function messagesOf(element: ListElement): Fields[] | undefined {
  const { value } = element;
  if (!isFields(value) || membersBeside(value, ['role', 'content']) !== undefined) return undefined;
  const { role, content } = value;
  if (role !== 'user' && role !== 'assistant' && role !== 'system') return undefined;
  if (typeof content === 'string') return [{ role, content }];
  if (!Array.isArray(content) || !content.every(isFields)) return undefined;
  if (role === 'assistant') return assistantOf(content, element);
  return role === 'user' ? userOf(content) : one(contentOf(content), (parts) => ({ role, content: parts }));
}

function userOf(blocks: readonly Fields[]): Fields[] | undefined {
  const end = blocks.findIndex(({ type }) => type !== 'tool_result');
  const results = mapAll(end < 0 ? blocks : blocks.slice(0, end), resultOf);
  if (end < 0 || results === undefined) return results;
  const behind = blocks.slice(end);
  const last = results.at(-1);
  // Else it would look like a person's newest word, and the results before it like answered ones.
  if (last !== undefined && behind.every(isReminder)) {
    return [...results.slice(0, -1), { ...last, reminders: behind }];
  }
  const said = one(contentOf(behind), (content) => ({ role: 'user', content }));
  return said && [...results, ...said];
}

/** What Claude Code itself adds to what its user and tools say. */
function isReminder({ type, text }: Fields): boolean {
  return type === 'text' && typeof text === 'string' && text.trimStart().startsWith('<system-reminder>');
}

function resultOf(block: Fields): Fields | undefined {
  const { content } = block;
  const rest = membersBeside(block, ['type', 'tool_use_id', 'content']);
  if (['role', 'tool_call_id', 'reminders'].some((name) => rest !== undefined && Object.hasOwn(rest, name)))
    return undefined;
  const result = { role: 'tool', tool_call_id: block.tool_use_id, ...rest };
  if (content === undefined) return result;
  if (typeof content === 'string') return { ...result, content };
  const parts = Array.isArray(content) && content.every(isFields) ? contentOf(content) : undefined;
  return parts && { ...result, content: parts };
}

const THOUGHTS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

function assistantOf(blocks: readonly Fields[], element: ListElement): Fields[] | undefined {
  const thoughts = blocks.filter(({ type }) => THOUGHTS.has(type));
  const used = blocks.flatMap((block, i) => (block.type === 'tool_use' ? [{ block, i }] : []));
  const said = blocks.filter(({ type }) => type !== 'tool_use' && !THOUGHTS.has(type));
  const calls = mapAll(used, ({ block, i }) => callOf(block, argumentsOf(element.bytes, i)));
  const parts = contentOf(said);
  if (calls === undefined || parts === undefined) return undefined;
  return [
    {
      role: 'assistant',
      content: parts.length === 0 && calls.length > 0 ? null : parts,
      ...(thoughts.length === 0 ? {} : { thinking_blocks: thoughts }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

function callOf(block: Fields, text: string | undefined): Fields | undefined {
  const { id, name, input } = block;
  if (!isFields(input) || text === undefined) return undefined;
  const rest = membersBeside(block, ['type', 'id', 'name', 'input']);
  if (rest !== undefined && Object.hasOwn(rest, 'function')) return undefined;
  return { id, type: 'function', function: { name, arguments: text }, ...rest };
}

function contentOf(blocks: readonly Fields[]): Fields[] | undefined {
  return mapAll(blocks, (block) => {
    if (block.type === 'text') return block;
    return block.type === 'image' ? imageOf(block) : undefined;
  });
}

function imageOf(block: Fields): Fields | undefined {
  const { source } = block;
  if (!isFields(source)) return undefined;
  const { type, media_type: kind, data, url } = source;
  const link = type === 'base64' ? `data:${String(kind)};base64,${String(data)}` : url;
  if (typeof link !== 'string') return undefined;
  return { type: 'image_url', image_url: { url: link }, ...membersBeside(block, ['type', 'source']) };
}

function one<In, Out>(value: In | undefined, make: (value: In) => Out): Out[] | undefined {
  return value === undefined ? undefined : [make(value)];
}
