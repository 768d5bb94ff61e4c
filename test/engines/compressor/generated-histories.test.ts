import fc from 'fast-check';
import { expect, test } from 'vitest';
import { headLength, type Message } from '../../../src/conversation/message.js';
import { readSummary } from '../../../src/engines/compressor/mark.js';
import { callsOf } from '../../../src/engines/compressor/message-text.js';
import { history, share } from './support/arbitraries.js';
import { build, roughly } from './support/build.js';
import { expectKept, run } from './support/invariants.js';
import { answering, SUMMARISERS, type SummariserName } from './support/summarisers.js';
import { violationsOf } from './support/violations.js';

/** A history that breaks a promise is told, with its seed, also where there is no time left to make it shorter. */
const WITHIN = { interruptAfterTimeLimit: 90_000 };

const summariser = fc.constantFrom(...(Object.keys(SUMMARISERS) as SummariserName[]));

test('whatever the history, the target and the summariser, the result is sound', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      share,
      summariser,
      fc.nat({ max: 4 }),
      async (messages, part, name, protectFirstN) => {
        const size = roughly(messages);
        const target = Math.floor(size * part);
        const given = { ...answering(name), contextLength: Math.max(300, size * 2), protectFirstN };
        const built = build(given);
        const input = structuredClone(messages);
        const outcome = await run(built, input, target);
        expect(input).toEqual(messages);
        expect(built.counts()).toBeLessThanOrEqual(7);
        expect(built.calls.length).toBeLessThanOrEqual(3);
        expectKept(messages, outcome, target, built, name);
        const again = await run(build(given), structuredClone(messages), target);
        expect(JSON.stringify(again.result)).toBe(JSON.stringify(outcome.result));
      },
    ),
    { numRuns: 150, ...WITHIN },
  );
});

/** A random one, and those that once found first messages and lines which did not yield. */
const SEEDS = [undefined, 13, 92238189, 1548846859];

test.each(SEEDS)(
  'pass after pass over a growing history, each with another summariser, stays sound, and nothing is nested: seed %s',
  {
    timeout: 120_000,
  },
  async (seed) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(history, summariser), { minLength: 2, maxLength: 4 }),
        async (pieces) => {
          let view: Message[] = [];
          for (const [index, [piece, name]] of pieces.entries()) {
            view =
              index === 0
                ? piece
                : [...view, ...piece.filter(({ role }) => role !== 'system' && role !== 'developer')];
            const target = Math.floor(roughly(view) * 0.5);
            // Far from full: near it an outage ends no pass, and a target may be raised.
            const built = build({ ...answering(name), contextLength: roughly(view) * 4 });
            const outcome = await run(built, structuredClone(view), target);
            expectKept(view, outcome, target, built, name);
            // After an outage what was there before serves on, and the next pass starts from it.
            view = outcome.result ?? view;
            expect(view.filter((message) => readSummary(message) !== undefined).length).toBeLessThanOrEqual(
              1,
            );
          }
        },
      ),
      { numRuns: seed === undefined ? 40 : 20, ...(seed !== undefined && { seed }), ...WITHIN },
    );
  },
);

test('where there is nothing to compress a pass says so', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(history, async (messages) => {
      const built = build();
      if (built.engine.hasContentToCompress(structuredClone(messages))) return;
      const { result } = await run(built, structuredClone(messages), Math.floor(roughly(messages) * 0.5));
      if (result !== undefined) expect(roughly(result)).toBeLessThan(roughly(messages));
    }),
    { numRuns: 100, ...WITHIN },
  );
});

/** What conversations hold that an engine may stumble over, and how to know it. */
const SHAPES: Readonly<Record<string, (messages: readonly Message[]) => boolean>> = {
  'parallel calls': (messages) => messages.some((message) => callsOf(message).length > 1),
  'an id twice in one message': (messages) =>
    messages.some((message) => new Set(idsOf(message)).size < callsOf(message).length),
  'an id again in a later message': (messages) => {
    const ids = messages.flatMap((message) => [...new Set(idsOf(message))]);
    return new Set(ids).size < ids.length;
  },
  'a call without a result': (messages) => (violationsOf(messages).unanswered ?? 0) > 0,
  'a result before its call': (messages) =>
    messages.some(
      ({ role, tool_call_id: id }, i) =>
        role === 'tool' &&
        !messages.slice(0, i).some((one) => idsOf(one).includes(id)) &&
        messages.slice(i).some((one) => idsOf(one).includes(id)),
    ),
  'a result of no call': (messages) => messages.some(({ tool_call_id: id }) => id === 'call_9'),
  'empty content': (messages) => messages.some(({ content }) => content === ''),
  'null as content': (messages) => messages.some(({ content }) => content === null),
  'a result that is null': (messages) =>
    messages.some(({ role, content }) => role === 'tool' && content === null),
  'content in parts': (messages) => messages.some(({ content }) => Array.isArray(content)),
  'an image': (messages) => JSON.stringify(messages).includes('"image_url"'),
  audio: (messages) => JSON.stringify(messages).includes('"input_audio"'),
  reasoning: (messages) => messages.some(({ reasoning }) => reasoning !== undefined),
  'reasoning content': (messages) => messages.some(({ reasoning_content: text }) => text !== undefined),
  'a developer behind the head': (messages) =>
    messages.slice(headLength(messages)).some(({ role }) => role === 'developer'),
  'a system message behind the head': (messages) => (violationsOf(messages).lateSystem ?? 0) > 0,
  'no head': (messages) => headLength(messages) === 0,
  'no user': (messages) => messages.every(({ role }) => role !== 'user'),
  'two users in a row': (messages) =>
    messages.some(({ role }, i) => role === 'user' && messages[i + 1]?.role === 'user'),
  'one turn that is most of all': (messages) => {
    const last = messages.findLastIndex(({ role }) => role === 'user');
    return last >= 0 && roughly(messages.slice(last)) > roughly(messages) * 0.7;
  },
};

test.each(Object.entries(SHAPES))('histories are generated with %s', (_, holds) => {
  const histories = fc.sample(history, { numRuns: 300, seed: 1 });
  expect(histories.filter(holds).length).toBeGreaterThan(5);
});

function idsOf(message: Message): readonly unknown[] {
  return callsOf(message).map(({ id }) => id);
}
