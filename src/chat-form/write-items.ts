import { isFields } from '../conversation/canonical.js';
import { type Fields, partsOf } from './fields.js';

/** Items of a Responses request for messages of a chat, as JSON text. */
export function writeItems(messages: readonly unknown[]): string[] {
  return messages.flatMap((message) => {
    if (!isFields(message)) throw new TypeError('a message is no object');
    return itemsOf(message).map((item) => JSON.stringify(item));
  });
}

function itemsOf(message: Fields): unknown[] {
  const { role, content } = message;
  const item = isFields(message.item) ? message.item : {};
  if (role === 'assistant') return assistantItems(message, item);
  if (role === 'tool') {
    const output = contentOf(content, 'input_text');
    return [{ type: 'function_call_output', call_id: message.tool_call_id, output, ...item }];
  }
  if (role !== 'user' && role !== 'system' && role !== 'developer') {
    throw new TypeError('a message has no role that is known here');
  }
  return [{ ...item, role, content: contentOf(content, 'input_text') }];
}

function assistantItems(message: Fields, item: Fields): unknown[] {
  const { content, reasoning_items: reasoning } = message;
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const isItem = message.item !== undefined || partsOf(content).length > 0;
  return [
    ...(Array.isArray(reasoning) ? reasoning : []),
    ...(isItem || calls.length === 0
      ? [{ ...item, role: 'assistant', content: contentOf(content, 'output_text') }]
      : []),
    ...calls.map(callItem),
  ];
}

function callItem(call: unknown): Fields {
  const called = isFields(call) ? call.function : undefined;
  if (!isFields(call) || !isFields(called)) throw new TypeError('a call names no function');
  const { name, arguments: given } = called;
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? '');
  const item = isFields(call.item) ? call.item : {};
  return { type: 'function_call', call_id: call.id, name, arguments: text, ...item };
}

function contentOf(content: unknown, textType: string): unknown {
  return Array.isArray(content) ? content.map((part) => partOf(part, textType)) : (content ?? '');
}

function partOf(part: unknown, textType: string): Fields {
  if (!isFields(part)) throw new TypeError('a part of a message is no object');
  if (part.type === 'text') return { ...part, type: textType };
  if (part.type !== 'image_url' || !isFields(part.image_url)) {
    throw new TypeError('a part of a message is neither text nor image');
  }
  const { url, ...rest } = part.image_url;
  return { ...rest, type: 'input_image', image_url: url };
}
