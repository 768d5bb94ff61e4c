import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { readSummary } from '../../../src/engines/compressor/mark.js';
import { type Built, build, roughly } from './support/build.js';
import { filler } from './support/histories.js';
import { randomFrom } from './support/summarisers.js';

const HEAD = { role: 'system', content: 'Be helpful.' };
/** Tokens of tools. */
const OVERHEAD = 2200;
/** The rough counter counts too much, so that a pass takes too much room for what it writes. */
const OF_ROUGH = 0.7;
const tokensOf = (view: readonly Message[]) => Math.round(OF_ROUGH * roughly(view)) + OVERHEAD;
const builtWith = { overhead: OVERHEAD, ofRough: OF_ROUGH };

function turns(count: number, from: number): Message[] {
  const random = randomFrom(from);
  return Array.from({ length: count }, (_, i) => [
    { role: 'user', content: `Look at AB${1000 + from + i}. ${filler(60, random)}` },
    { role: 'assistant', content: `Looked at it. ${filler(150, random)}` },
  ]).flat();
}

const question: Message = { role: 'user', content: 'And now?' };

async function pass(built: Built, view: Message[]): Promise<Message[]> {
  const currentTokens = tokensOf(view);
  return await built.engine.compress(structuredClone(view), { currentTokens, targetTokens: 3072 });
}

const summaryIn = (view: readonly Message[]) => view.find((message) => readSummary(message) !== undefined);

/** What stands before the end of the summary. */
const textOf = (view: readonly Message[]) =>
  String(summaryIn(view)?.content).replace(/\n<\/conversation-summary>$/, '');

test('what the model wrote stays byte for byte until it is asked again', async () => {
  const built = build(builtWith);
  let view = await pass(built, [HEAD, ...turns(14, 0), question]);
  let kept = 0;
  for (let at = 1; at <= 12; at += 1) {
    const asked = built.calls.length;
    const grown = [...view, { role: 'assistant', content: 'Fine.' }, ...turns(9, 100 * at), question];
    const next = await pass(built, grown);
    if (built.calls.length === asked) {
      expect(textOf(next).startsWith(textOf(view))).toBe(true);
      kept += 1;
    }
    view = next;
  }
  expect(kept).toBeGreaterThan(5);
  expect(built.calls.length).toBeGreaterThan(1);
});

test('catches up in lines of its own, without the model', async () => {
  const built = build(builtWith);
  const early = await pass(built, [HEAD, ...turns(14, 0), question]);
  const asked = built.calls.length;
  const grown = [...early, { role: 'assistant', content: 'Fine.' }, ...turns(5, 500), question];
  const options = { currentTokens: tokensOf(grown), targetTokens: 3072 };
  const result = await built.engine.catchUp(structuredClone(grown), options);
  expect(built.calls).toHaveLength(asked);
  expect(textOf(result ?? []).startsWith(textOf(early))).toBe(true);
  expect(textOf(result ?? [])).toContain('AB1500');
  expect(roughly(result ?? grown)).toBeLessThan(roughly(grown) - 500);
  expect(result?.at(-1)).toEqual(question);
});

test('is worth a pass that is made early only where the model may be needed', async () => {
  const built = build(builtWith);
  const worth = (view: Message[]) =>
    built.engine.isWorthPreparing(structuredClone(view), {
      currentTokens: tokensOf(view),
      targetTokens: 3072,
    });
  let view: Message[] = [HEAD, ...turns(14, 0), question];
  expect(worth(view)).toBe(true);
  const told: boolean[] = [];
  for (let at = 1; at <= 8; at += 1) {
    view = await pass(built, view);
    view = [...view, { role: 'assistant', content: 'Fine.' }, ...turns(9, 100 * at), question];
    told.push(worth(view));
  }
  expect(told[0]).toBe(false);
  expect(told).toContain(true);
});
