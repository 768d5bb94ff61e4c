import { fromPlain, isDict, isList, type PythonDict, type PythonValue } from './python-value.js';
import { badRequest } from './refusal.js';

/** A chat message in the making. */
interface Draft {
  readonly role: string;
  content?: PythonValue;
  reasoning?: PythonValue;
  toolCallId?: PythonValue;
  readonly toolCalls: PythonValue[];
}

/** The chat messages that the items of a Responses request stand for. @throws Refusal */
export function messagesOfItems(items: readonly PythonValue[]): PythonDict[] {
  const drafts: Draft[] = [];
  for (const item of items) {
    if (!isDict(item)) throw badRequest('an item of the input has to be an object');
    addItem(drafts, item);
  }
  return drafts.map(written);
}

function addItem(drafts: Draft[], item: PythonDict): void {
  const type = item.get('type') ?? 'message';
  if (type === 'message') addMessage(drafts, item);
  else if (type === 'function_call') assistantIn(drafts, () => true).toolCalls.push(callOf(item));
  else if (type === 'function_call_output') {
    const toolCallId = item.get('call_id') ?? '';
    drafts.push({ role: 'tool', content: item.get('output') ?? '', toolCallId, toolCalls: [] });
  } else if (type === 'reasoning') {
    assistantIn(drafts, (draft) => draft.reasoning === undefined).reasoning = thoughtOf(item);
  } else throw badRequest(`an item of the type ${JSON.stringify(type)} is not simulated`);
}

function addMessage(drafts: Draft[], item: PythonDict): void {
  const role = item.get('role');
  if (typeof role !== 'string') throw badRequest('a message needs a role');
  if (role === 'assistant') {
    assistantIn(drafts, (draft) => draft.content === undefined).content = firstText(item.get('content'));
  } else drafts.push({ role, content: contentOf(item.get('content')), toolCalls: [] });
}

/** The last message, where it is one of the assistant that has room for what comes; else a new one. */
function assistantIn(drafts: Draft[], hasRoom: (draft: Draft) => boolean): Draft {
  const last = drafts.at(-1);
  if (last?.role === 'assistant' && hasRoom(last)) return last;
  const draft: Draft = { role: 'assistant', toolCalls: [] };
  drafts.push(draft);
  return draft;
}

function contentOf(content: PythonValue | undefined): PythonValue {
  if (!isList(content)) return content ?? '';
  return content.map((part) => {
    const type = isDict(part) ? part.get('type') : undefined;
    if (!isDict(part) || (type !== 'input_text' && type !== 'text'))
      return fromPlain({ type: 'image_url', image_url: { url: '' } });
    return new Map<string, PythonValue>([
      ['type', 'text'],
      ['text', part.get('text') ?? ''],
    ]);
  });
}

function firstText(content: PythonValue | undefined): PythonValue {
  if (!isList(content)) return content ?? '';
  const [part] = content;
  return isDict(part) ? (part.get('text') ?? '') : '';
}

function callOf(item: PythonDict): PythonValue {
  return new Map<string, PythonValue>([
    ['id', item.get('call_id') ?? ''],
    ['type', 'function'],
    [
      'function',
      new Map([
        ['name', item.get('name') ?? ''],
        ['arguments', item.get('arguments') ?? ''],
      ]),
    ],
  ]);
}

function thoughtOf(item: PythonDict): PythonValue {
  const parts = [item.get('content'), item.get('summary')].flatMap((list) => (isList(list) ? list : []));
  const [part] = parts;
  return isDict(part) ? (part.get('text') ?? '') : '';
}

function written({ role, content, reasoning, toolCallId, toolCalls }: Draft): PythonDict {
  const message = new Map<string, PythonValue>([['role', role]]);
  if (content !== undefined) message.set('content', content);
  if (reasoning !== undefined) message.set('reasoning', reasoning);
  if (toolCallId !== undefined) message.set('tool_call_id', toolCallId);
  if (toolCalls.length > 0) message.set('tool_calls', toolCalls);
  return message;
}
