import { isFields } from '../conversation/canonical.js';
import { type Fields, membersBeside, partsOf } from './fields.js';
import { inputText } from './tool-input.js';

/** Anthropic's messages for messages of a chat, as JSON text: results of tools stand in front of what a person says. */
export function writeMessages(messages: readonly unknown[]): string[] {
  const written: string[] = [];
  let results: Fields[] = [];
  let reminders: unknown[] = [];
  const takeResults = (): unknown[] => {
    const taken = [...results, ...reminders];
    results = [];
    reminders = [];
    return taken;
  };
  const writeResults = (): void => {
    if (results.length > 0) written.push(JSON.stringify({ role: 'user', content: takeResults() }));
  };
  for (const message of messages) {
    if (!isFields(message)) throw new TypeError('a message is no object');
    const { role, content } = message;
    if (role === 'tool') {
      results.push(resultBlock(message));
      if (Array.isArray(message.reminders)) reminders.push(...message.reminders);
    } else if (role === 'user' && results.length > 0) {
      written.push(JSON.stringify({ role, content: [...takeResults(), ...partsOf(content).map(blockOf)] }));
    } else {
      writeResults();
      written.push(role === 'assistant' ? assistantText(message) : spokenText(message));
    }
  }
  writeResults();
  return written;
}

function spokenText({ role, content }: Fields): string {
  const name = role === 'developer' ? 'system' : role;
  if (name !== 'user' && name !== 'system') throw new TypeError('a message has no role that is known here');
  return JSON.stringify({ role: name, content: contentOf(content) });
}

function contentOf(content: unknown): unknown {
  return Array.isArray(content) ? content.map(blockOf) : (content ?? '');
}

function resultBlock(message: Fields): Fields {
  const { tool_call_id, content } = message;
  const rest = membersBeside(message, ['role', 'tool_call_id', 'content', 'name', 'reminders']);
  const block = { type: 'tool_result', tool_use_id: tool_call_id, ...rest };
  return Object.hasOwn(message, 'content') ? { ...block, content: contentOf(content) } : block;
}

function assistantText(message: Fields): string {
  const { content, thinking_blocks: thoughts, tool_calls: calls } = message;
  const isPlain = !Array.isArray(thoughts) && !(Array.isArray(calls) && calls.length > 0);
  if (isPlain) return JSON.stringify({ role: 'assistant', content: contentOf(content) });
  const blocks = [
    ...(Array.isArray(thoughts) ? thoughts : []).map((thought) => JSON.stringify(thought)),
    ...partsOf(content).map((part) => JSON.stringify(blockOf(part))),
    ...(Array.isArray(calls) ? calls : []).map(callText),
  ];
  return `{"role":"assistant","content":[${blocks.join(',')}]}`;
}

function callText(call: unknown): string {
  const called = isFields(call) ? call.function : undefined;
  if (!isFields(call) || !isFields(called)) throw new TypeError('a call names no function');
  const { id } = call;
  const head = JSON.stringify({ type: 'tool_use', id, name: called.name, ...membersBeside(call, CALL) });
  return `${head.slice(0, -1)},"input":${inputText(called.arguments)}}`;
}

const CALL = ['id', 'type', 'function', 'index'];

function blockOf(part: unknown): Fields {
  if (!isFields(part)) throw new TypeError('a part of a message is no object');
  if (part.type === 'text') return part;
  if (part.type !== 'image_url' || !isFields(part.image_url)) {
    throw new TypeError('a part of a message is neither text nor image');
  }
  const { url } = part.image_url;
  return { type: 'image', source: sourceOf(String(url)), ...membersBeside(part, ['type', 'image_url']) };
}

function sourceOf(url: string): Fields {
  const data = /^data:([^;,]*);base64,/.exec(url);
  if (data === null) return { type: 'url', url };
  return { type: 'base64', media_type: data[1], data: url.slice(data[0].length) };
}
