import { describe, expect, it } from 'vitest';
import { RawObject } from '../../src/body/raw-object.js';
import { resolveModelThreshold } from '../../src/budget/model-threshold.js';
import { readCases } from './vector-cases.js';

interface Input {
  readonly fn: string;
  readonly model: string;
  readonly default: number;
}

interface Expected {
  readonly substring: { readonly value?: number; readonly error_type?: string };
}

const cases = readCases<Input, Expected>('model_thresholds.json').filter(
  ({ input }) => input.fn === 'resolve',
);

describe('resolveModelThreshold', () => {
  it('is held against every golden case', () => {
    expect(cases).toHaveLength(96);
  });

  it.each(cases.map((vector) => [vector.name, vector] as const))('%s', (_, { input, expected, raw }) => {
    const table = tableOf(raw('table'));
    const resolve = () => resolveModelThreshold(input.model, table, input.default);
    if (expected.substring.error_type !== undefined) expect(resolve).toThrow(TypeError);
    else expect(resolve()).toBe(expected.substring.value);
  });

  it('keeps the table’s order for keys that look like numbers', () => {
    expect(resolveModelThreshold('m-30-10', tableOf(Buffer.from('{"30":0.3,"10":0.1}')), 0.5)).toBe(0.3);
  });

  it('measures keys in characters, not in their encoding', () => {
    const table = new Map([
      ['🙂', 0.1],
      ['ab', 0.2],
    ]);
    expect(resolveModelThreshold('🙂ab', table, 0.5)).toBe(0.2);
  });

  it.each([[''], [' '], ['0.4x'], [{}], [[0.5]], [Number.NaN]])('refuses %j for a number', (value) => {
    expect(() => resolveModelThreshold('m', new Map([['m', value]]), 0.5)).toThrow(TypeError);
  });
});

function tableOf(bytes: Buffer): ReadonlyMap<string, unknown> {
  const object = RawObject.parse(bytes);
  return new Map(object?.members.map(({ key }) => [key, object.value(key)]));
}
