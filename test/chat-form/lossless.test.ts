import { describe, expect, test } from 'vitest';
import { RawObject } from '../../src/body/raw-object.js';
import type { ChatForm, Dialect } from '../../src/chat-form/chat-form.js';
import { FormReader } from '../../src/chat-form/form-reader.js';
import { MESSAGES_DIALECT } from '../../src/chat-form/messages-dialect.js';
import { RESPONSES_DIALECT } from '../../src/chat-form/responses-dialect.js';

const rawObject = (bytes: Buffer | string): RawObject => {
  const read = RawObject.parse(Buffer.from(bytes));
  if (read === undefined) throw new Error('no JSON object');
  return read;
};

function formOf(dialect: Dialect, body: object | string) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new FormReader().read(rawObject(text), dialect, rawObject);
}

const messagesOf = (form: ChatForm | undefined): object[] => (form?.chat.value('messages') ?? []) as object[];

/** The chat's messages for elements. */
function chatOf(dialect: Dialect, elements: readonly unknown[], head?: unknown): unknown {
  const body = { model: 'm', [dialect.head]: head, [dialect.list]: elements };
  return formOf(dialect, body)?.chat.value('messages');
}

/** The elements for a chat's messages, where nothing of the client's own bytes is left. */
function elementsOf(dialect: Dialect, messages: readonly unknown[]): unknown {
  const form = formOf(dialect, { model: 'm', [dialect.list]: [{ role: 'user', content: 'q' }] });
  return form?.withMessagesOf(rawObject(JSON.stringify({ messages }))).value(dialect.list);
}

const USER = { role: 'user', content: 'q' };
const CALL = { type: 'tool_use', id: 't1', name: 'look', input: { at: 'north' } };
const RESULT = { type: 'tool_result', tool_use_id: 't1', content: 'a wall', is_error: false };
const TEXT = { type: 'text', text: 'So.', cache_control: { type: 'ephemeral' } };
const REMINDER = { type: 'text', text: '<system-reminder>\nBe careful.\n</system-reminder>' };
const THOUGHT = { type: 'thinking', thinking: 'hm', signature: 's' };
const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

describe('/v1/messages as a chat', () => {
  test.each([
    ['a text', [USER], [USER]],
    ['text blocks', [{ role: 'user', content: [TEXT] }], [{ role: 'user', content: [TEXT] }]],
    [
      'thoughts, words and calls of an assistant',
      [{ role: 'assistant', content: [THOUGHT, TEXT, CALL] }],
      [
        {
          role: 'assistant',
          content: [TEXT],
          thinking_blocks: [THOUGHT],
          tool_calls: [
            { id: 't1', type: 'function', function: { name: 'look', arguments: '{"at":"north"}' } },
          ],
        },
      ],
    ],
    [
      'results of tools, and words behind them',
      [{ role: 'user', content: [RESULT, { ...RESULT, tool_use_id: 't2', content: [TEXT] }, TEXT] }],
      [
        { role: 'tool', tool_call_id: 't1', content: 'a wall', is_error: false },
        { role: 'tool', tool_call_id: 't2', content: [TEXT], is_error: false },
        { role: 'user', content: [TEXT] },
      ],
    ],
    [
      'results of tools with reminders of the client behind them, which are no person’s words',
      [{ role: 'user', content: [RESULT, { ...RESULT, tool_use_id: 't2' }, REMINDER, REMINDER] }],
      [
        { role: 'tool', tool_call_id: 't1', content: 'a wall', is_error: false },
        {
          role: 'tool',
          tool_call_id: 't2',
          content: 'a wall',
          is_error: false,
          reminders: [REMINDER, REMINDER],
        },
      ],
    ],
    [
      'a result without a content',
      [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1' }] }],
      [{ role: 'tool', tool_call_id: 't1' }],
    ],
    [
      'an image',
      [{ role: 'user', content: [IMAGE, TEXT] }],
      [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }, TEXT],
        },
      ],
    ],
  ])('has %s, and they come back the same', (_what, elements, messages) => {
    expect(chatOf(MESSAGES_DIALECT, elements)).toEqual(messages);
    expect(elementsOf(MESSAGES_DIALECT, messages)).toEqual(elements);
  });

  test.each([
    ['a text behind a call', [{ role: 'assistant', content: [CALL, TEXT] }]],
    ['a thought behind a text', [{ role: 'assistant', content: [TEXT, THOUGHT] }]],
    ['a result behind a text', [{ role: 'user', content: [TEXT, RESULT] }]],
    ['a document', [{ role: 'user', content: [{ type: 'document', source: {} }] }]],
    ['a member that is not known', [{ ...USER, name: 'Ann' }]],
    ['an input that is no object', [{ role: 'assistant', content: [{ ...CALL, input: 'x' }] }]],
    ['a server tool', [{ role: 'assistant', content: [{ ...CALL, type: 'server_tool_use' }] }]],
    ['no content', [{ role: 'user' }]],
    ['no object', ['q']],
    ['a role that is not known', [{ role: 'tool', content: 'x' }]],
  ])('there is none with %s', (_what, elements) => {
    expect(chatOf(MESSAGES_DIALECT, elements)).toBeUndefined();
  });

  test('the system prompt is its first message, and stays where it is', () => {
    const system = [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }];
    const form = formOf(MESSAGES_DIALECT, { model: 'm', system, messages: [USER, USER] });
    expect(form?.chat.value('messages')).toEqual([{ role: 'system', content: system }, USER, USER]);
    const shorter = rawObject(JSON.stringify({ messages: [{ role: 'system', content: system }, USER] }));
    expect(form?.withMessagesOf(shorter).bytes.toString()).toBe(
      JSON.stringify({ model: 'm', system, messages: [USER] }),
    );
  });

  test('numbers in the input of a call stay as they are written', () => {
    const call = '{"type":"tool_use","id":"t1","name":"add","input":{"a": 9007199254740993, "b":1.0}}';
    const form = formOf(MESSAGES_DIALECT, `{"messages":[{"role":"assistant","content":[${call}]}]}`);
    const [message] = messagesOf(form);
    const other = { ...message, content: 'Adding.' };
    const written = form?.withMessagesOf(rawObject(JSON.stringify({ messages: [other] }))).bytes.toString();
    expect(written).toContain('"input":{"a": 9007199254740993, "b":1.0}');
  });
});

const ITEM_CALL = {
  type: 'function_call',
  call_id: 'c1',
  name: 'look',
  arguments: '{}',
  id: 'fc_1',
  status: null,
};
const OUTPUT = { type: 'function_call_output', call_id: 'c1', output: 'a wall' };
const REASONING = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [],
  content: [{ type: 'reasoning_text', text: 'hm' }],
};
const SAID = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'So.', annotations: [], logprobs: null }],
  phase: null,
};

describe('/v1/responses as a chat', () => {
  test.each([
    [
      'words of a person',
      [USER, { ...USER, type: 'message' }],
      [USER, { ...USER, item: { type: 'message' } }],
    ],
    [
      'parts of a person',
      [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'q' },
            { type: 'input_image', detail: 'low', image_url: 'data:,' },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'q' },
            { type: 'image_url', image_url: { detail: 'low', url: 'data:,' } },
          ],
        },
      ],
    ],
    [
      'reasoning, words and calls, one after the other, as one message',
      [REASONING, SAID, ITEM_CALL, { ...ITEM_CALL, call_id: 'c2' }, OUTPUT, { ...OUTPUT, call_id: 'c2' }],
      [
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'So.', annotations: [], logprobs: null }],
          item: { type: 'message', id: 'msg_1', status: 'completed', phase: null },
          reasoning_items: [REASONING],
          tool_calls: ['c1', 'c2'].map((id) => ({
            id,
            type: 'function',
            function: { name: 'look', arguments: '{}' },
            item: { id: 'fc_1', status: null },
          })),
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a wall' },
        { role: 'tool', tool_call_id: 'c2', content: 'a wall' },
      ],
    ],
  ])('has %s, and they come back the same', (_what, items, messages) => {
    expect(chatOf(RESPONSES_DIALECT, items)).toEqual(messages);
    expect(elementsOf(RESPONSES_DIALECT, messages)).toEqual(items);
  });

  test.each([
    ['a reference', [{ type: 'item_reference', id: 'x' }]],
    ['reasoning of nothing that was said', [USER, REASONING]],
    ['reasoning in front of a person', [REASONING, USER]],
    ['a refusal', [{ ...SAID, content: [{ type: 'refusal', refusal: 'no' }] }]],
    ['a file', [{ role: 'user', content: [{ type: 'input_file', file_id: 'x' }] }]],
    ['arguments that are no text', [{ ...ITEM_CALL, arguments: {} }]],
    ['a search', [{ type: 'web_search_call', id: 'x' }]],
    ['no object', ['q']],
  ])('there is none with %s', (_what, items) => {
    expect(chatOf(RESPONSES_DIALECT, items)).toBeUndefined();
  });

  test('there is none of an input that is a text', () => {
    expect(formOf(RESPONSES_DIALECT, { model: 'm', input: 'q' })).toBeUndefined();
  });

  test('instructions are its first message, and go where a chat has none', () => {
    const form = formOf(RESPONSES_DIALECT, { model: 'm', instructions: 'Be brief.', input: [USER] });
    expect(form?.chat.value('messages')).toEqual([{ role: 'system', content: 'Be brief.' }, USER]);
    const without = form?.withMessagesOf(rawObject(JSON.stringify({ messages: [USER] })));
    expect(JSON.parse(without?.bytes.toString() ?? '')).toEqual({ model: 'm', input: [USER] });
  });
});

describe('the way back', () => {
  test('of the same chat is the request itself', () => {
    const request = rawObject('{"messages":[{"role":"user","content":"q"}]}');
    const form = new FormReader().read(request, MESSAGES_DIALECT, rawObject);
    expect(form?.withMessagesOf(form.chat)).toBe(request);
  });

  test('keeps the bytes of what the client sent, and writes only what is new', () => {
    const kept = '{ "content" : [ { "type":"text", "text":"\\u0041" } ] , "role":"user" }';
    const form = formOf(MESSAGES_DIALECT, `{"x":1.0,"messages":[{"role":"user","content":"a"}, ${kept} ]}`);
    const [, second] = messagesOf(form);
    const summary = { role: 'user', content: 'Earlier: a' };
    const shorter = rawObject(JSON.stringify({ messages: [summary, second] }));
    expect(form?.withMessagesOf(shorter).bytes.toString()).toBe(
      `{"x":1.0,"messages":[${JSON.stringify(summary)},${kept}]}`,
    );
  });

  test.each([MESSAGES_DIALECT, RESPONSES_DIALECT])('refuses what has no form there: %#', (dialect) => {
    for (const message of [
      { role: 'user', content: [{ type: 'input_audio' }] },
      { role: 'poet', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] },
    ]) {
      expect(() => elementsOf(dialect, [message])).toThrow(TypeError);
    }
  });

  test('arguments that an engine cut are an object all the same', () => {
    const call = { id: 't1', type: 'function', function: { name: 'look', arguments: '{"at":"no…' } };
    expect(elementsOf(MESSAGES_DIALECT, [{ role: 'assistant', content: null, tool_calls: [call] }])).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 't1', name: 'look', input: { arguments: '{"at":"no…' } }],
      },
    ]);
  });
});

describe('a list that goes on', () => {
  test('reads as one that was read at once, also where another one went on otherwise in the middle', () => {
    const reader = new FormReader();
    const other = [USER, ITEM_CALL, OUTPUT, USER, SAID, USER];
    reader.read(rawObject(JSON.stringify({ model: 'm', input: other })), RESPONSES_DIALECT, rawObject);
    const second = { ...ITEM_CALL, call_id: 'c2' };
    const body = { model: 'm', input: [USER, ITEM_CALL, second, OUTPUT, { ...OUTPUT, call_id: 'c2' }, USER] };
    const grown = reader.read(rawObject(JSON.stringify(body)), RESPONSES_DIALECT, rawObject);
    expect(messagesOf(grown)).toEqual(messagesOf(formOf(RESPONSES_DIALECT, body)));
    expect(messagesOf(grown)).toHaveLength(5);
  });

  test.each([
    [
      MESSAGES_DIALECT,
      [USER, { role: 'assistant', content: [TEXT, CALL] }, { role: 'user', content: [RESULT] }],
    ],
    [RESPONSES_DIALECT, [USER, REASONING, SAID, ITEM_CALL, { ...ITEM_CALL, call_id: 'c2' }, OUTPUT, USER]],
  ])('reads as one that was read at once: %#', (dialect, elements) => {
    const reader = new FormReader();
    for (let end = 1; end <= elements.length; end += 1) {
      const body = { model: 'm', [dialect.list]: elements.slice(0, end) };
      const grown = reader.read(rawObject(JSON.stringify(body)), dialect, rawObject);
      const anew = formOf(dialect, body);
      expect(grown?.chat.value('messages')).toEqual(anew?.chat.value('messages'));
    }
  });
});
