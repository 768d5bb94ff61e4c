import fc from 'fast-check';
import { expect, test } from 'vitest';
import { barCells } from '../../src/demo/bar.js';

test('draws prompt, cap and what is free to scale', () => {
  expect(barCells({ window: 8000, prompt: 2000, answer: 4000 }, 20)).toEqual({
    prompt: 5,
    answer: 10,
    free: 5,
  });
});

test('shows a cap that takes all that is left up to the very end', () => {
  expect(barCells({ window: 8192, prompt: 4842, answer: 3350 }, 22)).toEqual({
    prompt: 13,
    answer: 9,
    free: 0,
  });
});

test('is as wide as asked for, and hides nothing, whatever the numbers', () => {
  const tokens = fc.integer({ min: 0, max: 2_000_000 });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      tokens,
      tokens,
      fc.integer({ min: 2, max: 60 }),
      (window, prompt, answer, width) => {
        const cells = barCells({ window, prompt, answer }, width);
        expect(cells.prompt + cells.answer + cells.free).toBe(width);
        expect(Math.min(cells.prompt, cells.answer, cells.free)).toBeGreaterThanOrEqual(0);
        if (prompt > 0) expect(cells.prompt).toBeGreaterThan(0);
        if (answer > 0) expect(cells.answer).toBeGreaterThan(0);
      },
    ),
  );
});
