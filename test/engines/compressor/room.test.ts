import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeRoom } from '../../../src/engines/compressor/room.js';
import { readSettings } from '../../../src/engines/compressor/settings.js';

const settings = readSettings({});
const share = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);

/** Orders as passes give them: the target is never over what a pass has to gain. */
const order = fc
  .record({
    thresholdTokens: fc.integer({ min: 500, max: 100_000 }),
    before: share,
    asked: share,
    fixed: share,
  })
  .map(({ thresholdTokens, before: full, asked, fixed }) => {
    const before = Math.floor(full * thresholdTokens);
    const most = Math.floor(0.75 * before);
    return {
      target: Math.min(Math.floor(asked * thresholdTokens), most),
      before,
      most,
      fixed: Math.floor(fixed * before),
      leastTurn: Math.floor((asked * thresholdTokens) / 2),
      contextLength: Math.floor(thresholdTokens / 0.75),
      thresholdTokens,
      settings,
      protectFirstN: 3,
      protectLastN: 20,
    };
  });

test('more than what was asked for does only where the target itself had to be raised', () => {
  const seen = { raised: 0, kept: 0 };
  fc.assert(
    fc.property(order, (asked) => {
      const { target, accepted } = makeRoom(asked);
      expect(target).toBeGreaterThanOrEqual(asked.target);
      seen[target > asked.target ? 'raised' : 'kept'] += 1;
      if (target === asked.target) expect(accepted).toBe(target);
    }),
    { numRuns: 2000, seed: 1 },
  );
  expect(Math.min(seen.raised, seen.kept)).toBeGreaterThan(20);
});

test('what was said keeps its room behind a long turn only where the target leaves that much', () => {
  fc.assert(
    fc.property(order, (asked) => {
      const { target, total, leastSpace } = makeRoom(asked);
      if (target === asked.target) expect(leastSpace).toBeLessThanOrEqual(total);
    }),
    { numRuns: 2000, seed: 1 },
  );
});
