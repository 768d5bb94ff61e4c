import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sameJson, sameMessage } from '../../src/conversation/same-json.js';

test('takes equal JSON for the same, whatever the order of keys and members without a value', () => {
  expect(sameJson({ a: 1, b: [{ c: null }] }, { b: [{ c: null, d: undefined }], a: 1 })).toBe(true);
  fc.assert(fc.property(fc.jsonValue(), (value) => sameJson(value, structuredClone(value))));
});

test.each([
  [[1], [1, 2]],
  [[1, 2], [1]],
  [{ a: 1 }, { a: 1, b: null }],
  [{ a: 1, b: null }, { a: 1 }],
  [{ a: 1 }, { b: 1 }],
  [{}, []],
  [[], {}],
  [{ 0: 1 }, [1]],
  [null, {}],
  ['1', 1],
  [{ a: [{ b: 1 }] }, { a: [{ b: 2 }] }],
])('tells %j from %j', (a, b) => {
  expect(sameJson(a, b)).toBe(false);
});

test('compares without a call stack', () => {
  const deep = (end: number): unknown => JSON.parse(`${'['.repeat(50_000)}${end}${']'.repeat(50_000)}`);
  expect(sameJson(deep(1), deep(1))).toBe(true);
  expect(sameJson(deep(1), deep(2))).toBe(false);
});

test('compares messages by what they say, not by their bookkeeping', () => {
  const message = { role: 'user', content: 'a' };
  expect(sameMessage(message, { ...message, message_uid: 'x', _engine_mark: 1 })).toBe(true);
  expect(sameMessage(message, { ...message, name: 'x' })).toBe(false);
});
