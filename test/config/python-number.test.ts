import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pythonFloat, pythonInt, strip } from '../../src/config/python-number.js';

it.each([
  ['+7', 7],
  ['-7', -7],
  ['1_000', 1000],
  [' 42 ', 42],
  ['\u00a0\u200342\u0085\x1f', 42],
  ['00012', 12],
  ['٣٤', 34],
  ['９０', 90],
  ['𝟎𝟗', 9],
  ['𝟘𝟡', 9],
  ['1३', 13],
])('reads %j as the integer %d', (text, value) => {
  expect(pythonInt(text)).toBe(value);
});

it.each([
  '',
  '  ',
  '1.0',
  '1e3',
  '0x10',
  '1 000',
  '1__0',
  '_1',
  '1_',
  '+ 7',
  '++7',
  'abc',
  '²',
  'Ⅷ',
  '\ufeff1',
])('reads no integer from %j', (text) => {
  expect(pythonInt(text)).toBeUndefined();
});

it('reads every integer that JavaScript writes', () => {
  fc.assert(fc.property(fc.maxSafeInteger(), (value) => pythonInt(String(value)) === value));
});

it.each([
  ['30', 30],
  [' 12.5 ', 12.5],
  ['1_0', 10],
  ['1_0.0_1', 10.01],
  ['1e3', 1000],
  ['1E+0_3', 1000],
  ['.5', 0.5],
  ['5.', 5],
  ['-.5e-1', -0.05],
  ['٣.٥', 3.5],
  ['1e400', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['nan', Number.NaN],
])('reads %j as the number %d', (text, value) => {
  expect(pythonFloat(text)).toBe(value);
});

it.each(['', '.', 'e3', '1e', '5s', '0x1', '1_.5', '1._5', '1 0', 'infinit', '1,5'])(
  'reads no number from %j',
  (text) => {
    expect(pythonFloat(text)).toBeUndefined();
  },
);

it('reads every finite number that JavaScript writes', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(fc.property(finite, (value) => pythonFloat(String(value)) === (value === 0 ? 0 : value)));
});

it('strips white space at the ends only', () => {
  expect(strip('\t a b\n')).toBe('a b');
});
