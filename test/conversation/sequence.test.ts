import { describe, expect, test } from 'vitest';
import { checkResult, checkSelection } from '../../src/conversation/check-result.js';
import type { Message } from '../../src/conversation/message.js';
import { violations } from '../../src/conversation/sequence.js';
import transcripts from '../vectors/transcripts.json' with { type: 'json' };

const system = (content: string): Message => ({ role: 'system', content });
const user = (content: string, uid?: string): Message => ({
  role: 'user',
  content,
  ...(uid === undefined ? {} : { message_uid: uid }),
});
const assistant = (content: string, ...ids: string[]): Message => ({
  role: 'assistant',
  content,
  ...(ids.length > 0 && {
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
  }),
});
const tool = (id: string): Message => ({ role: 'tool', tool_call_id: id, content: `result of ${id}` });
const codes = (...messages: unknown[]) => violations(messages as Message[]).map(({ code }) => code);

describe('a sequence of messages', () => {
  test('is fine with parallel calls, repeated ids, a late answer and an open end', () => {
    expect(codes()).toEqual([]);
    expect(
      codes(system('s'), { role: 'developer' }, user('a'), assistant('', 'c1', 'c2'), tool('c2'), tool('c1')),
    ).toEqual([]);
    expect(codes(user('a'), assistant('', 'c1', 'c1'), tool('c1'), tool('c1'))).toEqual([]);
    expect(codes(user('a'), assistant('', 'c1', 'c1'), tool('c1'), user('b'))).toEqual([]);
    expect(codes(assistant('', 'c1'), user('b'), tool('c1'))).toEqual([]);
    expect(codes(user('a'), assistant('', 'c1', 'c2'), tool('c1'))).toEqual([]);
  });

  test.each([
    ['an orphan result (BerriAI/litellm#4931, #6505)', [user('a'), tool('c1')], ['tool_without_call']],
    [
      'a result of an earlier call (langchain-ai/langchain#33245)',
      [assistant('', 'c1'), tool('c1'), assistant('b'), tool('c1')],
      ['tool_without_call'],
    ],
    [
      'one of two calls without a result (BerriAI/litellm#10696)',
      [assistant('', 'c1', 'c2'), tool('c1'), user('b')],
      ['call_without_result'],
    ],
    [
      'a call without a result before the next (langchain-ai/langchain#29637)',
      [assistant('', 'c1'), assistant('', 'c2'), tool('c2')],
      ['call_without_result'],
    ],
    [
      'a late system message (vllm-project/vllm#41114)',
      [system('s'), user('a'), system('b')],
      ['late_system'],
    ],
    ['a late developer message', [user('a'), { role: 'developer', content: 'b' }], ['late_system']],
    ['a role that no one has', [{ role: 'ghost' }, { role: null }, {}], ['bad_role', 'bad_role', 'bad_role']],
    ['what is no message', [null, 'x', [user('a')]], ['not_an_object', 'not_an_object', 'not_an_object']],
    ['a result that answers nothing', [assistant('', 'c1'), { role: 'tool' }], ['tool_without_call']],
    [
      'calls that are none',
      [{ role: 'assistant', tool_calls: [null, {}] }, user('a')],
      ['call_without_result'],
    ],
  ])('is not with %s', (_, messages, expected) => {
    expect(codes(...messages)).toEqual(expected);
  });

  test.each(transcripts.cases)('is told the same of "$name", whatever its bookkeeping', ({ messages }) => {
    const bare = messages as unknown as Message[];
    const found = violations(bare);
    const places = (of: typeof found) => of.map(({ code, index }) => `${index} ${code}`);
    expect(places(violations(bare.map((one, i) => ({ ...one, message_uid: String(i) }))))).toEqual(
      places(found),
    );
    expect(checkResult(bare, bare.slice(), { turnMayShrink: () => false })).toBe(
      bare.length === 0 ? 'empty' : undefined,
    );
  });
});

describe('the result of an engine', () => {
  const input = [
    system('s'),
    user('1', 'u1'),
    assistant('', 'c1', 'c2'),
    tool('c1'),
    tool('c2'),
    assistant('2'),
    user('3', 'u3'),
    assistant('', 'c3'),
    tool('c3'),
  ];
  const tail = input.slice(6);
  const check = (output: unknown, turnMayShrink = false, before = input) =>
    checkResult(before, output, { turnMayShrink: () => turnMayShrink });

  test('may summarise what stands before the last user message', () => {
    expect(check([system('s'), user('summary'), assistant('ack'), ...tail])).toBeUndefined();
    expect(
      check([system('s'), ...tail.map((message) => ({ ...message, message_uid: 'other' }))]),
    ).toBeUndefined();
    expect(check(tail)).toBeUndefined();
  });

  test('is a list', () => {
    for (const output of [undefined, null, {}, 'x', { length: 1 }]) expect(check(output)).toBe('not_a_list');
    expect(check([])).toBe('empty');
    expect(check([null, ...tail])).toBe('new_violation');
  });

  test('keeps calls and their results together (CodebuffAI/freebuff#1292)', () => {
    expect(check([tool('c1'), ...tail])).toBe('new_violation');
    expect(check([assistant('', 'c1', 'c2'), tool('c1'), ...tail])).toBe('new_violation');
    expect(check([system('s'), user('1'), system('summary'), ...tail])).toBe('new_violation');
    expect(check([{ role: 'summary', content: 'x' }, ...tail])).toBe('new_violation');
  });

  test('may be wrong where its input was, and nowhere else', () => {
    const odd = [user('1', 'u1'), tool('c0'), { ...system('late'), message_uid: 's1' }, user('3')];
    expect(check([tool('c0'), user('3')], false, odd)).toBeUndefined();
    expect(
      check([user('x'), { ...system('shorter'), message_uid: 's1' }, user('3')], false, odd),
    ).toBeUndefined();
    expect(check([tool('c0'), tool('c0'), user('3')], false, odd)).toBe('new_violation');
    expect(check([tool('c9'), user('3')], false, odd)).toBe('new_violation');
    expect(check([user('x'), { ...system('new'), message_uid: 's2' }, user('3')], false, odd)).toBe(
      'new_violation',
    );
  });

  test('ends like its input, from the last user message on', () => {
    expect(check([...input, assistant('4')])).toBe('tail_changed');
    expect(check([...input.slice(0, -1), { ...tool('c3'), content: 'shorter' }])).toBe('tail_changed');
    expect(check([...input.slice(0, -1), { ...tool('c3'), extra: undefined }])).toBeUndefined();
    expect(check(input.slice(0, 6))).toBe('lost_user_message');
    expect(check([...input.slice(0, 6), user('3!'), ...input.slice(7)])).toBe('lost_user_message');
    expect(check([...input, user('4')])).toBe('lost_user_message');
    expect(check([assistant('1')], false, [assistant('0'), assistant('1')])).toBeUndefined();
    expect(check([assistant('0')], false, [assistant('0'), assistant('1')])).toBe('tail_changed');
  });

  test('may change what the engine itself said as a user, not what a user said', () => {
    const summary = { ...user('summary'), _engine_mark: 1 };
    const later = { ...user('summary of more'), _engine_mark: 2 };
    const called = [assistant('', 'c1'), tool('c1')];
    const before = [summary, assistant('1'), ...called, assistant('2')];
    expect(check([later, assistant('2')], false, before)).toBeUndefined();
    expect(check([later, assistant('1')], false, before)).toBe('tail_changed');
    expect(check([later, assistant('2')], false, [user('0'), ...before])).toBe('lost_user_message');
  });

  test('may shorten a turn that is too big, never its user message', () => {
    const shorter = [...tail.slice(0, 2), { ...tool('c3'), content: 'cut' }];
    expect(check(shorter, true)).toBeUndefined();
    expect(check([user('3')], true)).toBeUndefined();
    expect(check([user('summary'), assistant('', 'c3'), tool('c3')], true)).toBe('lost_user_message');
    expect(check([user('3'), user('summary')], true)).toBe('lost_user_message');
  });

  test('opens no call at its end that had a result, but leaves one that had none', () => {
    expect(check(tail.slice(0, 2), true)).toBe('new_violation');
    const open = [user('1'), assistant('', 'c1', 'c2'), tool('c1')];
    expect(check(open, false, open)).toBeUndefined();
    expect(check(open, true, [...open, tool('c2')])).toBe('new_violation');
  });

  test('of a choice for one request may be any messages that go together', () => {
    expect(checkSelection(input, tail)).toBe(true);
    expect(checkSelection(input, [user('other')])).toBe(true);
    expect(checkSelection(input, [tool('c1')])).toBe(false);
    expect(checkSelection(input, [null])).toBe(false);
    expect(checkSelection(input, 'x')).toBe(false);
  });
});
