import { expect, test } from 'vitest';
import { Refusal } from '../../src/simulator/refusal.js';
import { scriptOfText } from '../../src/simulator/script.js';

function refusalOf(text: string): string {
  try {
    scriptOfText(text);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return (JSON.parse(error.body) as { error: { message: string } }).error.message;
  }
  return 'accepted';
}

test.each([
  ['!sim {"text": "a"}'],
  ['please\n \t!sim\t {"text": "a"} \t\nthanks'],
  ['please\r\n!sim {"text": "a"}\r\nthanks'],
  ['say !sim {"text": "no"}\n!simple {"text": "no"}\n!sim {"text": "a"}\n!sim {"text": "no"}'],
])('the first line that begins with the mark is the script: %j', (text) => {
  expect(scriptOfText(text)).toEqual({ text: 'a' });
});

test.each([['!simulate {"text": "no"}'], ['say !sim {"text": "no"}'], ['']])('%j has no script', (text) => {
  expect(scriptOfText(text)).toEqual({});
});

test.each([
  ['{"txt": "a"}', '"txt"'],
  ['{"rounds": [{"rounds": [{}]}]}', '"rounds"'],
  ['{"attempts": [{"attempts": [{}]}]}', '"attempts"'],
  ['{"tool_calls": [{"name": "f", "argumens": {}}]}', '"argumens"'],
  ['{"tool_calls": [{"function": {"name": "f", "argumens": {}}}]}', '"argumens"'],
  ['{"tokenize": {"conut": 1}}', '"conut"'],
  ['{"headers": {"a b": "c"}}', 'a b'],
  ['{"headers": {"Content-Length": "1"}}', 'Content-Length'],
])('an unknown member is named: %s', (script, name) => {
  expect(refusalOf(`!sim ${script}`)).toContain(name);
});

test.each(['!sim{"text": "a"}', '!sim [1]', '!sim', '!sim "a"'])('%j is refused, not ignored', (text) => {
  expect(refusalOf(text)).toMatch(/^!sim: write a script as/);
});

test.each(['{"delay_ms": 2147483648}', '{"chunk_delay_ms": 1e12}', '{"tokenize": {"delay_ms": 2147483648}}'])(
  'a delay that no timer holds is refused: %s',
  (script) => {
    expect(refusalOf(`!sim ${script}`)).toContain('delay_ms');
  },
);

test('a script that nests without end is refused', () => {
  expect(refusalOf(`!sim {"error": ${'['.repeat(5000)}`)).toBe('!sim: nested too deeply');
});

test.each([
  ['blanks within a script', `!sim {${' '.repeat(300_000)}x`],
  ['blanks before what is no script', `${' '.repeat(300_000)}x`.repeat(3)],
  ['many marks', `x${' !sim'.repeat(100_000)}`],
])('%s cost no more than their length', (_what, text) => {
  const start = performance.now();
  refusalOf(text);
  expect(performance.now() - start).toBeLessThan(500);
});
