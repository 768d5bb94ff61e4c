import { describe, expect, it, vi } from 'vitest';
import { withoutPrivateFields } from '../../src/body/private-fields.js';
import { RawObject } from '../../src/body/raw-object.js';

function clean(text: string): { before: Buffer; after: Buffer } {
  const object = RawObject.parse(Buffer.from(text));
  if (object === undefined) throw new Error(text);
  return { before: object.bytes, after: withoutPrivateFields(object) };
}

describe('withoutPrivateFields', () => {
  it.each([
    [
      '{"messages":[{"role":"user","message_uid":"u1","content":"hi"}]}',
      '{"messages":[{"role":"user","content":"hi"}]}',
    ],
    [
      '{"messages":[ {"message_uid":"u1"} , {"_absorbed_message_uids":["a"], "role":"x"}]}',
      '{"messages":[ {} , {"role":"x"}]}',
    ],
    ['{"messages":[{"a":1,"_tool_call_uids":{"c":1},"_tool_call_uid":"x"}]}', '{"messages":[{"a":1}]}'],
    ['{"messages":[{"a":1,"message\\u005fuid":"x"}]}', '{"messages":[{"a":1}]}'],
    ['{"messages":[7,null,{"message_uid":1}]}', '{"messages":[7,null,{}]}'],
    ['{"messages":[{"message_uid":1}],"messages":[{"message_uid":2}]}', '{"messages":[{}],"messages":[{}]}'],
  ])('removes the four fields from the messages: %s', (text, expected) => {
    expect(clean(text).after.toString()).toBe(expected);
  });

  it.each([
    '{"messages":[{"role":"user","content":"message_uid"}]}',
    '{"message_uid":"top level is not ours","messages":[]}',
    '{"messages":[{"metadata":{"message_uid":"nested is not ours"}}]}',
    '{"messages":{"message_uid":"no list"}}',
    '{"messages":[{"message_uids":1,"tool_call_uid":2}]}',
    '{"messages":[{"esc\\u0061ped":1}]}',
    '{"model":"m"}',
  ])('returns the same Buffer where there are none: %s', (text) => {
    const { before, after } = clean(text);
    expect(after).toBe(before);
  });

  it('looks at no message where no byte of such a name occurs', () => {
    const object = RawObject.parse(Buffer.from('{"messages":[{"role":"user","content":"hi"}]}'));
    const members = vi.spyOn(object as RawObject, 'members', 'get' as never);
    expect(object && withoutPrivateFields(object)).toBe(object?.bytes);
    expect(members).not.toHaveBeenCalled();
  });
});
