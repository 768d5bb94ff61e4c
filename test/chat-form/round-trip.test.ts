import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RawObject } from '../../src/body/raw-object.js';
import { FormReader } from '../../src/chat-form/form-reader.js';
import { MESSAGES_DIALECT } from '../../src/chat-form/messages-dialect.js';
import { RESPONSES_DIALECT } from '../../src/chat-form/responses-dialect.js';
import { sameJson } from '../../src/conversation/same-json.js';

const rawObject = (bytes: Buffer | string): RawObject => RawObject.parse(Buffer.from(bytes)) as RawObject;

const words = fc.oneof(
  fc.constantFrom(
    '',
    'ok',
    '<system-reminder>x',
    '"',
    '\\',
    '\u2028',
    '漢字 🙂',
    '__proto__',
    ']},{"role":"user"',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const id = fc.constantFrom('call_1', 'call_2', 'call_3');
const marked = (block: object) => fc.constantFrom(block, { ...block, cache_control: { type: 'ephemeral' } });
const textBlock = words.chain((text) => marked({ type: 'text', text }));
const image = fc.constantFrom(
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
  { type: 'image', source: { type: 'url', url: 'https://example.org/a.png' } },
);
const thought = words.map((thinking) => ({ type: 'thinking', thinking, signature: 's' }));
const toolUse = fc
  .tuple(id, fc.dictionary(words, fc.oneof(words, fc.integer(), fc.constant(null)), { maxKeys: 3 }))
  .map(([call, input]) => ({ type: 'tool_use', id: call, name: 'look', input }));
const toolResult = fc
  .tuple(id, fc.oneof(words, fc.array(fc.oneof(textBlock, image), { maxLength: 2 })), fc.boolean())
  .map(([call, content, failed]) => ({
    type: 'tool_result',
    tool_use_id: call,
    content,
    ...(failed && { is_error: true }),
  }));

const message = fc.oneof(
  words.map((content) => ({ role: 'user', content })),
  words.map((content) => ({ role: 'assistant', content })),
  fc
    .tuple(fc.array(toolResult, { maxLength: 2 }), fc.array(fc.oneof(textBlock, image), { maxLength: 2 }))
    .map(([results, said]) => ({ role: 'user', content: [...results, ...said] })),
  fc
    .tuple(
      fc.array(thought, { maxLength: 1 }),
      fc.array(textBlock, { maxLength: 2 }),
      fc.array(toolUse, { maxLength: 2 }),
    )
    .map(([thoughts, said, calls]) => ({ role: 'assistant', content: [...thoughts, ...said, ...calls] })),
);

const item = fc.oneof(
  words.map((content) => ({ role: 'user', content })),
  fc.tuple(fc.constantFrom('user', 'developer'), words).map(([role, text]) => ({
    type: 'message',
    role,
    content: [{ type: 'input_text', text }],
  })),
  words.map((text) => ({
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  })),
  fc.tuple(id, words).map(([call_id, given]) => ({
    type: 'function_call',
    call_id,
    name: 'look',
    arguments: given,
    id: 'fc_1',
    status: null,
  })),
  fc.tuple(id, words).map(([call_id, output]) => ({ type: 'function_call_output', call_id, output })),
);

test.each([
  ['/v1/messages', MESSAGES_DIALECT, message],
  ['/v1/responses', RESPONSES_DIALECT, item],
] as const)(
  '%s: what is written for a shorter chat reads as that chat, and keeps the bytes of the rest',
  (_path, dialect, element) => {
    let mapped = 0;
    fc.assert(
      fc.property(
        fc.array<unknown>(element as fc.Arbitrary<unknown>, { maxLength: 12 }),
        fc.nat(),
        fc.nat({ max: 2 }),
        (list, cut, indent) => {
          const request = rawObject(JSON.stringify({ model: 'm', [dialect.list]: list }, undefined, indent));
          const form = new FormReader().read(request, dialect, rawObject);
          if (form === undefined) return;
          mapped += 1;
          expect(form.withMessagesOf(form.chat)).toBe(request);
          const messages = form.chat.value('messages') as { role: string }[];
          const rest = messages.slice(messages.length === 0 ? 0 : cut % messages.length);
          // As the host sees to it, a result never stands without its call.
          while (rest[0]?.role === 'tool') rest.shift();
          const texts = rest.map((one) => textIn(form.chat, messages.indexOf(one)));
          const summary = ['{"role":"user","content":"Earlier."}'];
          // Items of an assistant one after the other are one message.
          if (rest[0]?.role !== 'assistant') summary.push('{"role":"assistant","content":"Noted."}');
          const chat = rawObject(`{"messages":[${[...summary, ...texts].join(',')}]}`);
          const written = form.withMessagesOf(chat);
          const again = new FormReader().read(written, dialect, rawObject);
          expect(sameJson(again?.chat.value('messages'), chat.value('messages'))).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
    expect(mapped).toBeGreaterThan(100);
  },
);

/** The text of a message as the chat has it. */
function textIn(chat: RawObject, index: number): string {
  const all = chat.text('messages') ?? '';
  return elementsOf(all)[index] as string;
}

function elementsOf(list: string): string[] {
  return (JSON.parse(list) as unknown[]).map((one) => JSON.stringify(one));
}
