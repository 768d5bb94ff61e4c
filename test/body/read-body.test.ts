import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RawObject, readBody } from '../../src/body/raw-object.js';
import { jsonText, objectText } from './arbitrary-json.js';

const kindOf = (text: string | Buffer) => readBody(Buffer.from(text)).kind;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** One byte removed, doubled, or replaced by one that matters to JSON. */
const damage = fc.tuple(
  fc.nat(),
  fc.constantFrom('', '"', '\\', '{', ']', ',', ':', '0', '-', '.', 'e', '\u0000', 't', '/'),
);

describe('readBody', () => {
  // seen in: MindWorkAI and others, malformed bodies answered by the proxy instead of the server (bug case 48)
  it.each([
    ['', 'not_json'],
    ['{', 'not_json'],
    ['[]', 'other'],
    ['"x"', 'other'],
    ['null', 'other'],
    [' 12 ', 'other'],
    ['{"messages":"hi"}', 'object'],
    ['{"a":1} {}', 'not_json'],
    ['{"a":1}x', 'not_json'],
    ['{"a":1,}', 'not_json'],
    ['{,"a":1}', 'not_json'],
    ['{"a" 1}', 'not_json'],
    ['{a:1}', 'not_json'],
    ["{'a':1}", 'not_json'],
    ['{"a":NaN}', 'not_json'],
    ['{"a":-Infinity}', 'not_json'],
    ['{"a":01}', 'not_json'],
    ['{"a":1.}', 'not_json'],
    ['{"a":.5}', 'not_json'],
    ['{"a":+1}', 'not_json'],
    ['{"a":1e}', 'not_json'],
    ['{"a":"\n"}', 'not_json'],
    ['{"a":"\\x41"}', 'not_json'],
    ['{"a":"\\u12g4"}', 'not_json'],
    ['{"a":"\\u12', 'not_json'],
    ['{"a":[1,2}', 'not_json'],
    ['{"a":{"b":1]}', 'not_json'],
    ['{"a":// c\n1}', 'not_json'],
    ['{"a":\u00a01}', 'not_json'],
    ['nulL', 'not_json'],
  ])('reads %j as %s', (text, kind) => {
    expect(kindOf(text)).toBe(kind);
  });

  it('agrees with JSON.parse on every document', () => {
    fc.assert(
      fc.property(jsonText, (text) => kindOf(text) !== 'not_json'),
      { numRuns: 500 },
    );
  });

  it('agrees with JSON.parse on every damaged document', () => {
    fc.assert(
      fc.property(objectText, damage, fc.nat({ max: 1 }), (text, [position, byte], removed) => {
        const at = position % (text.length + 1);
        const damaged = Buffer.from(text.slice(0, at) + byte + text.slice(at + removed)).toString();
        expect(kindOf(damaged) !== 'not_json').toBe(isJson(damaged));
      }),
      { numRuns: 2000 },
    );
  });

  it('finds a string’s end whatever its length and its place in memory', () => {
    for (let offset = 0; offset < 8; offset += 1) {
      for (let length = 0; length < 20; length += 1) {
        for (const tail of ['', '\\n', '\\u0041', 'é', '\u001f', '\\']) {
          const text = `{"k":"${'x'.repeat(length)}${tail}yz"}`;
          const memory = Buffer.alloc(64, 0x20);
          const size = memory.write(text, offset);
          const kind = readBody(memory.subarray(offset, offset + size)).kind;
          expect(kind, text).toBe(isJson(text) ? 'object' : 'not_json');
        }
      }
    }
  });

  it('skips one leading byte order mark, as vLLM does', () => {
    const body = Buffer.from('\ufeff{"a":1}');
    const read = readBody(body);
    expect(read.kind === 'object' && read.object.value('a')).toBe(1);
    expect(kindOf('\ufeff\ufeff{}')).toBe('not_json');
    expect(kindOf('\ufeff')).toBe('not_json');
  });

  it('refuses invalid UTF-8', () => {
    expect(kindOf(Buffer.from([0x22, 0xff, 0x22]))).toBe('not_json');
    expect(kindOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toBe('not_json');
  });

  it('reads nesting of any depth in linear time', () => {
    const depth = 1_000_000;
    const arrays = `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const objects = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const started = performance.now();
    expect(kindOf(arrays)).toBe('object');
    expect(kindOf(objects)).toBe('object');
    expect(kindOf(`${'['.repeat(depth)}${']'.repeat(depth - 1)}}`)).toBe('not_json');
    expect(kindOf('['.repeat(depth))).toBe('not_json');
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('RawObject', () => {
  it('locates every member as JSON.parse reads it, the last of duplicates counting', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const object = RawObject.parse(Buffer.from(text));
        const parsed = JSON.parse(text) as Record<string, unknown>;
        expect(new Set(object?.members.map((member) => member.key))).toEqual(new Set(Object.keys(parsed)));
        for (const key of Object.keys(parsed)) {
          expect(object?.has(key)).toBe(true);
          expect(object?.value(key)).toEqual(parsed[key]);
        }
      }),
      { numRuns: 500 },
    );
  });

  // llm-d/llm-d-router#2518, earendil-works/pi#8943
  it('keeps a value’s raw text, digits of a 64-bit seed and a trailing zero included', () => {
    const object = RawObject.parse(Buffer.from('{"seed": 9007199254740993 ,"t":1.0,"e":-1E+2}'));
    expect(object?.text('seed')).toBe('9007199254740993');
    expect(object?.text('t')).toBe('1.0');
    expect(object?.text('e')).toBe('-1E+2');
    expect(object?.raw('seed')).toEqual(Buffer.from('9007199254740993'));
  });

  it('takes __proto__ and constructor for ordinary keys', () => {
    const object = RawObject.parse(Buffer.from('{"__proto__":{"x":1},"constructor":{"prototype":2}}'));
    expect(object?.members.map((member) => member.key)).toEqual(['__proto__', 'constructor']);
    expect(object?.value('__proto__')).toEqual({ x: 1 });
    expect(object?.has('toString')).toBe(false);
    expect(object?.text('toString')).toBeUndefined();
    expect(object?.value('toString')).toBeUndefined();
  });

  it('compares keys after unescaping', () => {
    const object = RawObject.parse(Buffer.from('{"max\\u005ftokens":5,"x":{"a\\/b":1}}'));
    expect(object?.value('max_tokens')).toBe(5);
    expect(object?.hasEscapedKey).toBe(true);
    expect(RawObject.parse(Buffer.from('{"a":"\\u0041","b":{"c":"\\n"}}'))?.hasEscapedKey).toBe(false);
    expect(RawObject.parse(Buffer.from('{"a":[{"\\u0041":1}]}'))?.hasEscapedKey).toBe(true);
  });

  it('parses nothing but objects', () => {
    for (const text of ['[]', '1', '', '{]']) expect(RawObject.parse(Buffer.from(text))).toBeUndefined();
  });
});
