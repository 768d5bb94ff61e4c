import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { readSummary } from '../../../src/engines/compressor/mark.js';
import { history, share } from './support/arbitraries.js';
import { build, roughly } from './support/build.js';
import { expectSound, run } from './support/invariants.js';
import { amnesic, empty, failing, injecting, refusing, repeating, tooLong } from './support/summarisers.js';

const summariser = fc.constantFrom(repeating, amnesic, empty, tooLong, failing, refusing, injecting);

test('whatever the history, the target and the summariser, the result is sound', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      share,
      summariser,
      fc.nat({ max: 4 }),
      async (messages, part, answer, protectFirstN) => {
        const size = roughly(messages);
        const target = Math.floor(size * part);
        const given = { summariser: answer, contextLength: Math.max(300, size * 2), protectFirstN };
        const built = build(given);
        const input = structuredClone(messages);
        const outcome = await run(built, input, target);
        expect(input).toEqual(messages);
        expect(built.counts()).toBeLessThanOrEqual(7);
        expect(built.calls.length).toBeLessThanOrEqual(3);
        expectSound(messages, outcome, target);
        const again = await run(build(given), structuredClone(messages), target);
        expect(JSON.stringify(again.result)).toBe(JSON.stringify(outcome.result));
      },
    ),
    { numRuns: 150 },
  );
});

test('pass after pass over a growing history stays sound, and nothing is nested', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(history, { minLength: 2, maxLength: 4 }),
      summariser,
      async (pieces, answer) => {
        let view: Message[] = [];
        for (const [index, piece] of pieces.entries()) {
          view =
            index === 0
              ? piece
              : [...view, ...piece.filter(({ role }) => role !== 'system' && role !== 'developer')];
          const target = Math.floor(roughly(view) * 0.5);
          const outcome = await run(build({ summariser: answer }), structuredClone(view), target);
          expectSound(view, outcome, target);
          view = outcome.result ?? view;
          expect(view.filter((message) => readSummary(message) !== undefined).length).toBeLessThanOrEqual(1);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('where there is nothing to compress a pass says so', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(history, async (messages) => {
      const built = build();
      if (built.engine.hasContentToCompress(structuredClone(messages))) return;
      const { result } = await run(built, structuredClone(messages), Math.floor(roughly(messages) * 0.5));
      if (result !== undefined) expect(roughly(result)).toBeLessThan(roughly(messages));
    }),
    { numRuns: 100 },
  );
});
