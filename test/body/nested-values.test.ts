import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrayElements, objectMembers, valueKind } from '../../src/body/members.js';
import { jsonText, objectText } from './arbitrary-json.js';

const whole = (bytes: Buffer) => ({ start: 0, end: bytes.length });
const texts = (bytes: Buffer, spans: readonly { start: number; end: number }[]) =>
  spans.map((span) => bytes.toString('utf8', span.start, span.end));

describe('arrayElements', () => {
  it('gives each element its exact bytes', () => {
    const bytes = Buffer.from('[ 1.0 ,"a,]" , {"x":[ ]},[]]');
    expect(texts(bytes, arrayElements(bytes, whole(bytes)))).toEqual(['1.0', '"a,]"', '{"x":[ ]}', '[]']);
  });

  it('locates the elements of every array as JSON.parse reads them', () => {
    fc.assert(
      fc.property(fc.array(jsonText), (elements) => {
        const bytes = Buffer.from(`[ ${elements.join(' , ')}\n]`);
        const found = texts(bytes, arrayElements(bytes, whole(bytes)));
        expect(found.map((text) => JSON.parse(text))).toEqual(JSON.parse(bytes.toString()));
        expect(found).toEqual(elements);
      }),
    );
  });

  it('finds none in another kind of value', () => {
    for (const text of ['{"a":[1]}', '"[1]"', '1', '[]', '[ ]']) {
      const bytes = Buffer.from(text);
      expect(arrayElements(bytes, whole(bytes))).toEqual([]);
    }
  });
});

describe('objectMembers', () => {
  it('gives each member its key, its name token and its exact bytes', () => {
    const bytes = Buffer.from('{ "a" : 1 , "\\u0062":[2] }');
    const members = objectMembers(bytes, whole(bytes));
    expect(members.map((member) => member.key)).toEqual(['a', 'b']);
    expect(
      texts(
        bytes,
        members.map((member) => member.whole),
      ),
    ).toEqual(['"a" : 1', '"\\u0062":[2]']);
    expect(
      texts(
        bytes,
        members.map((member) => member.name),
      ),
    ).toEqual(['"a"', '"\\u0062"']);
    expect(
      texts(
        bytes,
        members.map((member) => member.value),
      ),
    ).toEqual(['1', '[2]']);
  });

  it('locates the members of every object as JSON.parse reads them', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const bytes = Buffer.from(text.trim());
        const entries = objectMembers(bytes, whole(bytes)).map((member) => {
          return [
            member.key,
            JSON.parse(bytes.toString('utf8', member.value.start, member.value.end)),
          ] as const;
        });
        expect(new Map(entries)).toEqual(new Map(Object.entries(JSON.parse(text) as object)));
      }),
    );
  });

  it('finds none in another kind of value', () => {
    for (const text of ['[{"a":1}]', '"{}"', 'null', '{}']) {
      const bytes = Buffer.from(text);
      expect(objectMembers(bytes, whole(bytes))).toEqual([]);
    }
  });
});

describe('valueKind', () => {
  it.each([
    ['{}', 'object'],
    ['[]', 'array'],
    ['"x"', 'string'],
    ['-1', 'number'],
    ['0', 'number'],
    ['true', 'boolean'],
    ['false', 'boolean'],
    ['null', 'null'],
  ])('names the kind of %s', (text, kind) => {
    expect(valueKind(Buffer.from(text), 0)).toBe(kind);
  });
});
