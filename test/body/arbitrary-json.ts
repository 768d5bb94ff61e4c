import fc from 'fast-check';

const CAP_NAMES = [
  'max_tokens',
  'max_completion_tokens',
  'messages',
  '__proto__',
  'constructor',
  'a',
  'é',
  '',
];
const whiteSpace = fc
  .array(fc.constantFrom(' ', '\n', '\r', '\t'), { maxLength: 3 })
  .map((characters) => characters.join(''));

/** A key as a client may spell it: plain, or with its first character escaped. */
export const keyToken = fc
  .tuple(fc.oneof(fc.constantFrom(...CAP_NAMES), fc.string({ unit: 'binary', maxLength: 6 })), fc.boolean())
  .map(([key, escaped]) => (escaped && key !== '' ? escapeFirst(key) : JSON.stringify(key)));

const scalarToken = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1.0',
    '1e2',
    '-12.50E+3',
    '9007199254740993',
    'true',
    'false',
    'null',
    '"\\ud800"',
  ),
  fc.integer().map(String),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text)),
);

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalarToken,
    fc.array(spaced(tie('value')), { maxLength: 4 }).map((elements) => `[${elements.join(',')}]`),
    fc.array(member(tie('value')), { maxLength: 4 }).map((members) => `{${members.join(',')}}`),
  ),
}));

/** Raw JSON text of any value, with odd white space, duplicate and escaped keys, odd numbers. */
export const jsonText = value;

/** Raw JSON text of an object, white space around it included. */
export const objectText = fc
  .tuple(whiteSpace, fc.array(member(value), { maxLength: 6 }), whiteSpace, whiteSpace)
  .map(([before, members, inside, after]) => `${before}{${members.join(',') || inside}}${after}`);

function member(of: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(whiteSpace, keyToken, whiteSpace, spaced(of))
    .map(([before, key, after, text]) => `${before}${key}${after}:${text}`);
}

function spaced(of: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(whiteSpace, of, whiteSpace).map((parts) => parts.join(''));
}

function escapeFirst(key: string): string {
  const first = key.charCodeAt(0).toString(16).padStart(4, '0');
  return `"\\u${first}${JSON.stringify(key.slice(1)).slice(1)}`;
}
