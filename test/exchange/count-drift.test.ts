import { describe, expect, test } from 'vitest';
import { CountDrift } from '../../src/exchange/count-drift.js';

const MARGIN = 100;

function taught(...differences: readonly number[]): { drift: CountDrift; at: (tokens: number) => unknown } {
  const drift = new CountDrift();
  const count = { model: 'm', shape: 'chat', tokens: 50 };
  for (const difference of differences) drift.note(count, 50 + difference);
  return { drift, at: (tokens) => drift.corrected({ ...count, tokens }, MARGIN) };
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

  test('tells nothing about other models and shapes', () => {
    const { drift } = taught(4, 4, 4);
    for (const other of [{ model: 'n' }, { shape: 'chat+tools' }]) {
      const count = { model: 'm', shape: 'chat', tokens: 7, ...other };
      expect(drift.corrected(count, MARGIN)).toEqual({ tokens: 7, isCertain: true });
    }
  });

  test('is kept in mind for a bounded number of models and shapes', () => {
    const drift = new CountDrift();
    const of = (i: number) => ({ model: `m${i}`, shape: 'chat', tokens: 1 });
    for (let i = 0; i < 2000; i += 1) drift.note(of(i), 2);
    expect(drift.corrected(of(0), MARGIN).isCertain).toBe(true);
    expect(drift.corrected(of(1999), MARGIN).isCertain).toBe(false);
  });
});
