import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalMessage, contentHash } from '../../src/conversation/canonical.js';
import transcripts from '../vectors/transcripts.json' with { type: 'json' };

const text = (value: string) => ({ type: 'text', text: value });
const call = (id: string, args: unknown, rest = {}) => ({
  ...rest,
  id,
  type: 'function',
  function: { name: 'read', arguments: args },
});
const assistant = (...tool_calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls });

function expectAlike(...messages: unknown[]): void {
  for (const message of messages) expect(canonicalMessage(message)).toBe(canonicalMessage(messages[0]));
}

function expectDistinct(...messages: unknown[]): void {
  expect(new Set(messages.map(contentHash)).size).toBe(messages.length);
}

describe('is the same message', () => {
  test('with or without what clients drop: reasoning, cache markers, annotations (NousResearch/hermes-agent#20577)', () => {
    expectAlike(
      { role: 'assistant', content: 'yes' },
      {
        content: 'yes',
        role: 'assistant',
        refusal: null,
        annotations: [],
        audio: { id: 'a1' },
        tool_calls: [],
      },
      { role: 'assistant', content: 'yes', reasoning: 'hm', reasoning_content: 'hm', thinking: 'hm' },
      { role: 'assistant', content: [{ ...text('yes'), cache_control: { type: 'ephemeral' } }] },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }, text('yes')] },
      { role: 'assistant', content: 'yes', cache_control: {}, name: null, function_call: null },
    );
  });

  test('with or without bookkeeping', () => {
    expectAlike(
      { role: 'user', content: 'a' },
      { role: 'user', content: 'a', message_uid: '0'.repeat(32), _absorbed_message_uids: ['1'] },
      { role: 'user', content: 'a', _tool_call_uids: {}, _tool_call_uid: 'x', _engine_mark: { a: 1 } },
    );
  });

  test('with or without the name of the tool in a result that says which call it answers', () => {
    expectAlike(
      { role: 'tool', content: 'a', tool_call_id: 'c1' },
      { role: 'tool', content: 'a', tool_call_id: 'c1', name: 'read' },
    );
  });

  test('with content null, empty, missing, or white space', () => {
    const calls = [call('c1', '{}')];
    expectAlike(
      { role: 'assistant', tool_calls: calls },
      ...[null, '', ' \n', [], [text('')], [text(' ')]].map((content) => ({
        role: 'assistant',
        content,
        tool_calls: calls,
      })),
    );
  });

  test('as a text or as its parts', () => {
    expectAlike(
      { role: 'user', content: 'a  \nb' },
      { role: 'user', content: [text('a  '), text('b')] },
      { role: 'user', content: ['a  ', { type: 'input_text', text: 'b \n' }] },
    );
  });

  test('with arguments that say the same JSON', () => {
    expectAlike(
      assistant(call('c1', '{"a":1,"b":{"c":"é","d":[1,2.0]}}')),
      assistant(call('c1', ' { "b": {"d":[1.0,2],"c":"\\u00e9"},\n"a": 1e0 } ', { index: 0 })),
      assistant(call('c1', { b: { c: 'é', d: [1, 2] }, a: 1 })),
    );
    expectAlike(...['', ' ', '{}', null, undefined, {}].map((args) => assistant(call('c1', args))));
  });

  test('whatever else a client accepts as variation', () => {
    const json = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(fc.string(), json, fc.string(), fc.boolean(), (content, args, id, extras) => {
        const message = { role: 'assistant', content, tool_calls: [call(id, JSON.stringify(args))] };
        const varied = {
          tool_calls: [{ function: { arguments: JSON.stringify(args, null, 2), name: 'read' }, id }],
          content: extras ? [text(`${content} \n`)] : `${content}\t`,
          role: 'assistant',
          ...(extras ? { refusal: null, reasoning: content } : {}),
        };
        expectAlike(message, varied, JSON.parse(JSON.stringify(message)));
      }),
    );
  });
});

describe('is another message', () => {
  test('when who speaks, what is said, or what is answered differs', () => {
    expectDistinct(
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'user', content: ' a' },
      { role: 'user', content: 'a', name: 'ann' },
      { role: 'tool', content: 'a', tool_call_id: 'c1' },
      { role: 'tool', content: 'a', tool_call_id: 'c2' },
      { role: 'tool', content: 'a', name: 'read' },
      { role: 'tool', content: 'a', name: 'write' },
      { role: 'assistant', content: 'a', refusal: 'no' },
      { role: 'assistant', content: 'a', function_call: { name: 'f', arguments: '{}' } },
    );
  });

  test('when a call differs', () => {
    expectDistinct(
      assistant(call('c1', '{"a":1}')),
      assistant(call('c2', '{"a":1}')),
      assistant(call('c1', '{"a":"1"}')),
      assistant(call('c1', '{"a":1')),
      assistant(call('c1', '"{\\"a\\":1"')),
      assistant(call('c1', '{"a":1}'), call('c1', '{"a":1}')),
      assistant(call('c1', '{"a":9007199254740993}')),
      assistant(call('c1', '{"a":9007199254740992}')),
      assistant(call('c1', '{"a":"9007199254740992"}')),
      { ...assistant(), tool_calls: 'c1' },
    );
  });

  test('when a part other than text differs', () => {
    const image = (url: string, detail = 'auto') => ({ type: 'image_url', image_url: { url, detail } });
    const user = (...content: unknown[]) => ({ role: 'user', content });
    expectDistinct(
      user(text('a'), image('data:1')),
      user(text('a'), image('data:2')),
      user(image('data:1'), text('a')),
      user(text('a')),
      user(text('a'), { type: 'input_audio', input_audio: { data: 'data:1', format: 'wav' } }),
      user(text('a'), { type: 'file', file: { file_id: 'f' } }),
      user(text('a'), { type: 'file', file: { file_id: 'g' } }),
      user(text('a'), 7),
    );
    expectAlike(
      user(image('u')),
      user({ type: 'image_url', image_url: 'u', cache_control: {} }),
      user(image('u', 'low')),
    );
  });

  test('when a lone surrogate differs', () => {
    expectDistinct({ role: 'user', content: '\ud800' }, { role: 'user', content: '\ud801' });
  });
});

describe('never throws', () => {
  test('on what is no message', () => {
    const odd = [null, undefined, 'user', 7, true, [], [[]], {}, { role: 7 }, { role: null }];
    expectDistinct('user', 7, null, [], {});
    for (const message of odd) expect(contentHash(message)).toMatch(/^[\w-]{43}$/);
  });

  test('on odd members', () => {
    const members = [
      '{"tool_calls":[{"function":null}]}',
      '{"tool_calls":[null,7,"x",{}],"function_call":7}',
      '{"__proto__":{"role":"user"},"content":[{"__proto__":null}]}',
      '{"role":"user","content":{"__proto__":{"a":1}},"name":{}}',
      '{"content":[{"type":"constructor"},{"type":{}},{"image_url":null},{"image_url":[]}]}',
    ].map((json) => JSON.parse(json));
    expectDistinct(...members);
  });

  test('on deep nesting', () => {
    const deep = `${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}`;
    const content = JSON.parse(deep);
    expectDistinct(
      { role: 'user', content },
      { role: 'user', content: [{ type: 'x', content }] },
      assistant(call('c1', deep)),
      content,
    );
  });

  test('on any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const message = { role: a, content: b, tool_calls: a, tool_call_id: b, name: a };
        expectAlike(message, structuredClone(message));
        expect(canonicalMessage(a)).toBe(canonicalMessage(structuredClone(a)));
      }),
    );
  });
});

test.each(transcripts.cases)('tells the messages of "$name" apart, and knows them again', ({ messages }) => {
  for (const message of messages) expectAlike(message, JSON.parse(JSON.stringify(message)));
  const hashes = new Map(messages.map((message) => [canonicalMessage(message), contentHash(message)]));
  expect(new Set(hashes.values()).size).toBe(hashes.size);
});
