import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editObject, type ObjectEdit } from '../../src/body/edit-object.js';
import { RawObject } from '../../src/body/raw-object.js';
import { objectText } from './arbitrary-json.js';

const parse = (text: string): RawObject => {
  const object = RawObject.parse(Buffer.from(text));
  if (object === undefined) throw new Error(`not an object: ${text}`);
  return object;
};
const edited = (text: string, edit: ObjectEdit): string => editObject(parse(text), edit).toString();
const set = (...entries: [string, string][]): ObjectEdit => ({ set: new Map(entries) });
const drop = (...names: string[]): ObjectEdit => ({ drop: new Set(names) });

describe('setting a member', () => {
  it.each([
    ['{"a":1,"max_tokens":5}', '{"a":1,"max_tokens":9}'],
    ['{ "max_tokens" : "5" , "a":1 }', '{ "max_tokens" : 9 , "a":1 }'],
    ['{"max_tokens":null}', '{"max_tokens":9}'],
    ['{"max_tokens":1,"max_tokens":2}', '{"max_tokens":1,"max_tokens":9}'],
    ['{"max\\u005ftokens":true}', '{"max\\u005ftokens":9}'],
  ])('replaces only the last value’s token: %s', (text, expected) => {
    expect(edited(text, set(['max_tokens', '9']))).toBe(expected);
  });

  it.each([
    ['{}', '{"max_tokens":9}'],
    [' { } ', ' {"max_tokens":9 } '],
    ['{"a":1}', '{"a":1,"max_tokens":9}'],
    ['{"a":1\n}\n', '{"a":1,"max_tokens":9\n}\n'],
    ['{"m":{"max_tokens":1}}', '{"m":{"max_tokens":1},"max_tokens":9}'],
  ])('appends a new one as the last member: %s', (text, expected) => {
    expect(edited(text, set(['max_tokens', '9']))).toBe(expected);
  });

  it('appends several in their order', () => {
    expect(edited('{}', set(['a', '1'], ['b', '[]']))).toBe('{"a":1,"b":[]}');
  });

  it('returns the same Buffer where the value already stands there', () => {
    const object = parse('{"max_tokens": 9}');
    expect(editObject(object, set(['max_tokens', '9']))).toBe(object.bytes);
    expect(editObject(object, {})).toBe(object.bytes);
    expect(editObject(object, drop('other'))).toBe(object.bytes);
  });

  it('keeps a byte order mark', () => {
    expect(edited('\ufeff{"a":1}', set(['a', '2']))).toBe('\ufeff{"a":2}');
  });
});

describe('dropping members', () => {
  it.each([
    ['{"a":1,"b":2,"c":3}', ['a'], '{"b":2,"c":3}'],
    ['{"a":1,"b":2,"c":3}', ['b'], '{"a":1,"c":3}'],
    ['{"a":1,"b":2,"c":3}', ['c'], '{"a":1,"b":2}'],
    ['{"a":1,"b":2,"c":3}', ['a', 'b'], '{"c":3}'],
    ['{"a":1,"b":2,"c":3}', ['b', 'c'], '{"a":1}'],
    ['{"a":1,"b":2,"c":3}', ['a', 'c'], '{"b":2}'],
    ['{"a":1,"b":2,"a":3}', ['a'], '{"b":2}'],
    ['{"a":1,"b":2,"c":3}', ['a', 'b', 'c'], '{}'],
    ['{ "a" : 1 ,\n "b" : 2 }', ['a'], '{ "b" : 2 }'],
    ['{ "a" : 1 ,\n "b" : 2 }', ['b'], '{ "a" : 1 }'],
    ['{ "a" : 1 }', ['a'], '{  }'],
    ['{"\\u0061":1,"b":2}', ['a'], '{"b":2}'],
  ])('takes exactly one comma with each: %s without %j', (text, names, expected) => {
    expect(edited(text, drop(...names))).toBe(expected);
  });

  it('appends a name that is dropped and set', () => {
    expect(edited('{"a":1,"b":2,"a":3}', { ...drop('a'), ...set(['a', '9']) })).toBe('{"b":2,"a":9}');
    expect(edited('{ "a":1 }', { ...drop('a'), ...set(['c', '9']) })).toBe('{ "c":9 }');
  });
});

describe('renaming a member', () => {
  it('replaces the key’s token and keeps the value’s bytes', () => {
    const edit = { rename: new Map([['reasoning_content', 'reasoning']]) };
    expect(edited('{"role":"a", "reasoning_content" : "x\\u0041"}', edit)).toBe(
      '{"role":"a", "reasoning" : "x\\u0041"}',
    );
    expect(edited('{"a":1.0}', { rename: new Map([['a', 'b']]), ...set(['a', '2']) })).toBe('{"b":2}');
  });
});

describe('any edit of any object', () => {
  const names = fc.uniqueArray(
    fc.constantFrom<string[]>('max_tokens', '__proto__', 'a', 'é', '', 'new', 'messages'),
  );
  const edits = fc.tuple(names, names);

  it('means what JSON.parse reads', () => {
    fc.assert(
      fc.property(objectText, edits, (text, [setNames, dropNames]) => {
        const result = edited(text, { ...drop(...dropNames), ...set(...setNames.map((n) => pair(n))) });
        const expected = new Map(Object.entries(JSON.parse(text) as object));
        for (const name of dropNames) expected.delete(name);
        for (const name of setNames) expected.set(name, 7);
        expect(new Map(Object.entries(JSON.parse(result) as object))).toEqual(expected);
      }),
      { numRuns: 1500 },
    );
  });

  it('leaves all other bytes as they were', () => {
    fc.assert(
      fc.property(objectText, edits, (text, [setNames, dropNames]) => {
        const before = parse(text);
        const after = parse(edited(text, { ...drop(...dropNames), ...set(...setNames.map((n) => pair(n))) }));
        const stay = before.members.filter((member) => !dropNames.includes(member.key));
        stay.forEach((member, i) => {
          const isSet =
            setNames.includes(member.key) && stay.findLast((m) => m.key === member.key) === member;
          const expected = isSet ? replaceValue(before, i, stay) : slice(before, member.whole);
          expect(slice(after, after.members[i]?.whole)).toBe(expected);
        });
        expect(after.bytes.subarray(0, after.span.start)).toEqual(
          before.bytes.subarray(0, before.span.start),
        );
        expect(after.bytes.subarray(after.span.end)).toEqual(before.bytes.subarray(before.span.end));
        expect(tail(after).endsWith(tail(before))).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });

  it('changes no byte outside the token when one value is set', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const object = parse(text);
        for (const { key } of object.members) {
          const value = object.member(key)?.value ?? { start: 0, end: 0 };
          const expected = Buffer.concat([
            object.bytes.subarray(0, value.start),
            Buffer.from('123456'),
            object.bytes.subarray(value.end),
          ]);
          expect(editObject(object, set([key, '123456']))).toEqual(expected);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function pair(name: string): [string, string] {
  return [name, '7'];
}

function slice(object: RawObject, span: { start: number; end: number } | undefined): string | undefined {
  return span && object.bytes.toString('utf8', span.start, span.end);
}

function replaceValue(object: RawObject, i: number, stay: readonly RawObject['members'][number][]): string {
  const member = stay[i];
  return member ? `${slice(object, { start: member.whole.start, end: member.value.start })}7` : '';
}

/** The white space between the last member and the closing brace. */
function tail(object: RawObject): string {
  const start = object.members.at(-1)?.whole.end ?? object.span.start + 1;
  return object.bytes.toString('utf8', start, object.span.end);
}
