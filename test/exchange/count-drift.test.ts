import { describe, expect, test } from 'vitest';
import { CountDrift } from '../../src/exchange/count-drift.js';

const MARGIN = 100;
const COUNT = { caller: 'a', model: 'm', shape: 'chat', tokens: 50, contextLength: 8000 };

function taught(...differences: readonly number[]): { drift: CountDrift; at: (tokens: number) => unknown } {
  const drift = new CountDrift();
  for (const difference of differences) drift.note(COUNT, 50 + difference);
  return { drift, at: (tokens) => drift.corrected({ ...COUNT, tokens }, MARGIN) };
}

describe('a count that the usage contradicts', () => {
  test.each([
    ['never: it is taken as it is', [0, 0], { tokens: 50, isCertain: true }],
    ['once: it is no longer certain, and the margin is added', [4], { tokens: 150, isCertain: false }],
    ['by more than the margin: the most that was seen is added', [400, 4], { tokens: 450, isCertain: false }],
    [
      'three times by the same: that is added, and it is certain again',
      [4, 4, 4],
      { tokens: 54, isCertain: true },
    ],
    ['by this and that: it stays uncertain', [4, 9, 4, 9, 4], { tokens: 150, isCertain: false }],
    ['downward, however often: it is never lowered', [-4, -4, -4, -4, -4], { tokens: 50, isCertain: false }],
    ['after it was learnt, by nothing: it is in doubt', [4, 4, 4, 0], { tokens: 150, isCertain: false }],
    [
      'and then no more, eight times: all is forgotten',
      [4, 0, 0, 0, 0, 0, 0, 0, 0],
      { tokens: 50, isCertain: true },
    ],
    ['and then no more, seven times: not yet', [4, 0, 0, 0, 0, 0, 0, 0], { tokens: 150, isCertain: false }],
    [
      'after it was learnt, by something else for good: that is learnt',
      [4, 4, 4, 6, 6, 6],
      { tokens: 56, isCertain: true },
    ],
  ])('%s', (_what, differences, corrected) => {
    expect(taught(...differences).at(50)).toEqual(corrected);
  });

  test('tells nothing about other callers, models and shapes', () => {
    const { drift } = taught(4, 4, 4);
    for (const other of [{ caller: 'b' }, { caller: undefined }, { model: 'n' }, { shape: 'chat+tools' }]) {
      const count = { ...COUNT, tokens: 7, ...other };
      expect(drift.corrected(count, MARGIN)).toEqual({ tokens: 7, isCertain: true });
    }
  });

  test('is kept in mind for a bounded number of callers, models and shapes', () => {
    const drift = new CountDrift();
    const of = (i: number) => ({ ...COUNT, caller: `${i}` });
    for (let i = 0; i < 9000; i += 1) drift.note(of(i), 52);
    expect(drift.corrected(of(0), MARGIN).isCertain).toBe(true);
    expect(drift.corrected(of(8999), MARGIN).isCertain).toBe(false);
  });

  test('adds no more than an eighth of the context length, and learns nothing larger', () => {
    expect(taught(1000, 1000, 1000).at(50)).toEqual({ tokens: 1050, isCertain: true });
    expect(taught(1001, 1001, 1001, 1001).at(50)).toEqual({ tokens: 1050, isCertain: false });
    expect(taught(4, 4, 4, 7000).at(50)).toEqual({ tokens: 1050, isCertain: false });
  });

  test('is not believed where the usage is longer than the context', () => {
    const { drift, at } = taught();
    for (let i = 0; i < 4; i += 1) expect(drift.note(COUNT, 8001)).toBeUndefined();
    expect(at(50)).toEqual({ tokens: 50, isCertain: true });
  });

  test.each([
    ['learnt', [400, 400, 400]],
    ['in doubt', [400]],
  ])('and what is %s never makes a prompt too long for the context: the upstream is to say so', (_, seen) => {
    const { at } = taught(...seen);
    expect(at(7600)).toMatchObject({ tokens: 8000 });
    expect(at(7601)).toEqual({ tokens: 7601, isCertain: false });
  });

  test('is forgotten ten minutes after the last comparison', () => {
    let now = 0;
    const drift = new CountDrift(() => now);
    const minutes = 60_000;
    for (now of [0, 1, 9 * minutes]) drift.note(COUNT, 54);
    now = 19 * minutes - 1;
    expect(drift.corrected(COUNT, MARGIN)).toEqual({ tokens: 54, isCertain: true });
    now += 1;
    expect(drift.corrected(COUNT, MARGIN)).toEqual({ tokens: 50, isCertain: true });
  });
});
