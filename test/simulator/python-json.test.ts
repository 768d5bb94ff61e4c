import { expect, test } from 'vitest';
import { JsonDecodeError, JsonRecursionError, parsePythonJson } from '../../src/simulator/python-json.js';
import { pythonRepr } from '../../src/simulator/python-value.js';

test.each([
  ['9007199254740993', '9007199254740993'],
  ['1.0', '1.0'],
  ['1e2', '100.0'],
  ['1e16', '1e+16'],
  ['0.00001', '1e-05'],
  ['-0', '0'],
  ['-0.0', '-0.0'],
  ['NaN', 'nan'],
  ['-Infinity', '-inf'],
  ['[true, false, null]', '[True, False, None]'],
  ['{"b": 1, "7": 2, "a": {}, "__proto__": []}', "{'b': 1, '7': 2, 'a': {}, '__proto__': []}"],
  ['{"a": 1, "b": 2, "a": 3}', "{'a': 3, 'b': 2}"],
  ['"it\'s"', '"it\'s"'],
  ['"it\'s \\"so\\""', "'it\\'s \"so\"'"],
  ['"\\ud83d\\ude42\\n\\u0000\\u00a0é"', "'🙂\\n\\x00\\xa0é'"],
  [' [ 1 , 2 ] ', '[1, 2]'],
])('reads %s as Python does', (text, repr) => {
  expect(pythonRepr(parsePythonJson(text))).toBe(repr);
});

test.each([
  ['', 'Expecting value', 0],
  ['{"a" 1}', "Expecting ':' delimiter", 5],
  ['{"a": 1', "Expecting ',' delimiter", 7],
  ['{a: 1}', 'Expecting property name enclosed in double quotes', 1],
  ['[1, 2', "Expecting ',' delimiter", 5],
  ['[1] 2', 'Extra data', 4],
  ['"abc', 'Unterminated string starting at', 0],
  ['"🙂\u0001"', 'Invalid control character at', 2],
  ['"\\x"', 'Invalid \\escape', 1],
  ['"\\u12"', 'Invalid \\uXXXX escape', 2],
  ['01', 'Extra data', 1],
])('tells what is wrong with %s, and where', (text, reason, position) => {
  let error: unknown;
  try {
    parsePythonJson(text);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(JsonDecodeError);
  expect(error).toMatchObject({ reason, position });
});

test('names line and column as the exception does', () => {
  expect(() => parsePythonJson('{\n "a" 1}')).toThrow(
    expect.objectContaining({ fullText: "Expecting ':' delimiter: line 2 column 6 (char 7)" }),
  );
});

test('gives up on a depth that no scanner follows', () => {
  expect(() => parsePythonJson('['.repeat(10_000))).toThrow(JsonRecursionError);
});
