import { joined, listOf, separated } from './json-parts.js';
import { elementsOf, RawFields, uncertain } from './raw-fields.js';

/** A chat message in the making. All values are raw JSON. */
interface Draft {
  readonly role: string;
  content?: Buffer;
  reasoning?: Buffer;
  toolCallId?: Buffer;
  readonly toolCalls: Buffer[];
}

const QUOTE = 0x22;
const OPENING_BRACE = 0x7b;
const NOTHING = Buffer.from('""');
const TEXT_IN = new Set(['input_text', 'text']);

/**
 * The raw chat messages that vLLM 0.27 to 0.33 makes of the items of a Responses request.
 * @throws CountFailedError `unsupported` where it is not certain what becomes of an item.
 */
export function messagesOfItems(items: Buffer): Buffer[] {
  const drafts: Draft[] = [];
  for (const item of elementsOf(items)) {
    if (item[0] !== OPENING_BRACE) throw uncertain();
    addItem(drafts, new RawFields(item));
  }
  return drafts.map(written);
}

function addItem(drafts: Draft[], item: RawFields): void {
  const type = item.text('type') ?? 'message';
  // An unfinished one at the end would be continued.
  const status = item.text('status');
  if (status !== undefined && status !== 'completed') throw uncertain();
  if (type === 'message') addMessage(drafts, item);
  else if (type === 'function_call') assistantIn(drafts, () => true).toolCalls.push(callOf(item));
  else if (type === 'function_call_output') {
    const toolCallId = item.string('call_id');
    drafts.push({ role: 'tool', content: item.string('output'), toolCallId, toolCalls: [] });
  } else if (type === 'reasoning') {
    assistantIn(drafts, (draft) => draft.reasoning === undefined).reasoning = reasoningOf(item);
  } else throw uncertain();
}

function addMessage(drafts: Draft[], item: RawFields): void {
  const role = item.text('role');
  if (role === 'assistant') {
    const content = assistantText(item);
    assistantIn(drafts, (draft) => draft.content === undefined).content = content;
  } else if (role === 'user' || role === 'system' || role === 'developer') {
    drafts.push({ role, content: contentOf(item), toolCalls: [] });
  } else throw uncertain();
}

/** The last message, where it is one of the assistant that has room for what comes; else a new one. */
function assistantIn(drafts: Draft[], hasRoom: (draft: Draft) => boolean): Draft {
  const last = drafts.at(-1);
  if (last?.role === 'assistant' && hasRoom(last)) return last;
  const draft: Draft = { role: 'assistant', toolCalls: [] };
  drafts.push(draft);
  return draft;
}

/** Of several parts vLLM reads the first only: no client means that. */
function assistantText(item: RawFields): Buffer {
  const content = item.raw('content');
  if (content?.[0] === QUOTE) return content;
  const [part, ...others] = item.list('content');
  if (part === undefined || others.length > 0) throw uncertain();
  const fields = new RawFields(part);
  if (fields.text('type') !== 'output_text') throw uncertain();
  return fields.string('text');
}

function contentOf(item: RawFields): Buffer {
  const content = item.raw('content');
  if (content?.[0] === QUOTE) return content;
  const parts = item.list('content').map((part) => {
    const fields = new RawFields(part);
    if (!TEXT_IN.has(fields.text('type') ?? '')) throw uncertain();
    return joined('{"type":"text","text":', fields.string('text'), '}');
  });
  if (parts.length === 0) throw uncertain();
  return listOf(parts);
}

function callOf(item: RawFields): Buffer {
  if (item.raw('namespace') !== undefined) throw uncertain();
  const id = item.string('call_id');
  const called = joined('{"name":', item.string('name'), ',"arguments":', item.string('arguments'), '}');
  return joined('{"id":', id, ',"type":"function","function":', called, '}');
}

function reasoningOf(item: RawFields): Buffer {
  if (item.raw('encrypted_content') !== undefined || item.raw('summary') === undefined) throw uncertain();
  const [part] = [...item.list('content'), ...item.list('summary')];
  return part === undefined ? NOTHING : new RawFields(part).string('text');
}

function written({ role, content, reasoning, toolCallId, toolCalls }: Draft): Buffer {
  const members: Buffer[] = [Buffer.from(`"role":"${role}"`)];
  if (content !== undefined) members.push(joined('"content":', content));
  if (reasoning !== undefined) members.push(joined('"reasoning":', reasoning));
  if (toolCallId !== undefined) members.push(joined('"tool_call_id":', toolCallId));
  if (toolCalls.length > 0) members.push(joined('"tool_calls":', listOf(toolCalls)));
  return joined('{', separated(members), '}');
}
