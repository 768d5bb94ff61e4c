import { isFields } from '../conversation/canonical.js';
import type { Dialect, Group, ListElement } from './chat-form.js';
import { type Fields, mapAll, membersBeside } from './fields.js';
import { writeItems } from './write-items.js';

/**
 * Items of a Responses request: an assistant's reasoning, words and calls, one after the other, are one message of a
 * chat. Members that a chat has no place for stay with it under `item`.
 */
export const RESPONSES_DIALECT: Dialect = {
  list: 'input',
  head: 'instructions',
  read(elements, bytes) {
    const reader = new ItemReader(bytes);
    return elements.every((element) => reader.add(element)) ? reader.groups() : undefined;
  },
  write: writeItems,
};

/** An assistant's message in the making. */
interface Draft {
  readonly first: ListElement;
  last: ListElement;
  readonly reasoning: Fields[];
  said: Fields | undefined;
  readonly calls: Fields[];
}

class ItemReader {
  readonly #groups: Group[] = [];
  #draft: Draft | undefined;
  #isSound = true;

  constructor(private readonly bytes: Buffer) {}

  /** False where an item has no form in a chat. */
  add(element: ListElement): boolean {
    const { value } = element;
    if (!isFields(value)) return false;
    const { type = 'message' } = value;
    if (type === 'reasoning') {
      this.#assistant(element, ({ said, calls }) => said === undefined && calls.length === 0).reasoning.push(
        value,
      );
      return true;
    }
    if (type === 'function_call') {
      const call = callOf(value);
      if (call !== undefined) this.#assistant(element, () => true).calls.push(call);
      return call !== undefined;
    }
    if (type === 'message' && value.role === 'assistant') {
      const said = messageOf(value, 'output_text');
      if (said === undefined) return false;
      this.#assistant(element, (draft) => draft.said === undefined && draft.calls.length === 0).said = said;
      return true;
    }
    const message =
      type === 'message' ? spokenOf(value) : type === 'function_call_output' ? resultOf(value) : undefined;
    if (message === undefined) return false;
    this.#close();
    this.#groups.push({ messages: [JSON.stringify(message)], original: element.bytes });
    return this.#isSound;
  }

  groups(): readonly Group[] | undefined {
    this.#close();
    return this.#isSound ? this.#groups : undefined;
  }

  /** The assistant's last message, where it has room for what comes; else a new one. */
  #assistant(element: ListElement, hasRoom: (draft: Draft) => boolean): Draft {
    if (this.#draft !== undefined && !hasRoom(this.#draft)) this.#close();
    this.#draft ??= { first: element, last: element, reasoning: [], said: undefined, calls: [] };
    this.#draft.last = element;
    return this.#draft;
  }

  #close(): void {
    const draft = this.#draft;
    this.#draft = undefined;
    if (draft === undefined) return;
    const { first, last, reasoning, said, calls } = draft;
    // A thought of nothing that was said or done has no message to stay with.
    if (said === undefined && calls.length === 0) this.#isSound = false;
    const message = {
      ...(said ?? { role: 'assistant', content: null }),
      ...(reasoning.length === 0 ? {} : { reasoning_items: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    const original = this.bytes.subarray(first.start, last.end);
    this.#groups.push({ messages: [JSON.stringify(message)], original });
  }
}

function callOf(value: Fields): Fields | undefined {
  const { call_id: id, name, arguments: text } = value;
  if (typeof text !== 'string') return undefined;
  const item = membersBeside(value, ['type', 'call_id', 'name', 'arguments']);
  return { id, type: 'function', function: { name, arguments: text }, ...(item && { item }) };
}

const SPOKEN: ReadonlySet<unknown> = new Set(['user', 'system', 'developer']);

function spokenOf(value: Fields): Fields | undefined {
  return SPOKEN.has(value.role) ? messageOf(value, 'input_text') : undefined;
}

function messageOf(value: Fields, textType: string): Fields | undefined {
  const content = contentOf(value.content, textType);
  const item = membersBeside(value, ['role', 'content']);
  return content === undefined ? undefined : { role: value.role, content, ...(item && { item }) };
}

function resultOf(value: Fields): Fields | undefined {
  const content = contentOf(value.output, 'input_text');
  const item = membersBeside(value, ['type', 'call_id', 'output']);
  return content === undefined
    ? undefined
    : { role: 'tool', tool_call_id: value.call_id, content, ...(item && { item }) };
}

function contentOf(content: unknown, textType: string): unknown {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? mapAll(content, (part) => partOf(part, textType)) : undefined;
}

function partOf(part: unknown, textType: string): Fields | undefined {
  if (!isFields(part)) return undefined;
  if (part.type === textType) return { ...part, type: 'text' };
  const { type, image_url: url, ...rest } = part;
  return type === 'input_image' && typeof url === 'string'
    ? { type: 'image_url', image_url: { ...rest, url } }
    : undefined;
}
