// Whole conversations through small windows, counted with the estimate: what a pass costs and what it keeps.
import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { build } from './support/build.js';
import { chat, PLANTED, recordIds, service } from './support/histories.js';
import { type Figures, replay } from './support/replay.js';
import { amnesic, forgetful, repeating, type Summariser } from './support/summarisers.js';

async function throughChat(summariser: Summariser): Promise<{ figures: Figures; found: string[] }> {
  let last = '';
  const figures = await replay(build({ summariser }), chat(), {
    window: 6144,
    required: 512,
    target: 3072,
    overhead: 0,
    onRequest: (view) => {
      last = JSON.stringify(view.map(({ content }) => content));
    },
  });
  return { figures, found: PLANTED.map(({ needle }) => needle).filter((needle) => last.includes(needle)) };
}

test.each([
  ['repeats facts', repeating],
  ['forgets all', amnesic],
] as const)(
  'sixty turns of chat through 6,144 tokens keep twelve facts with a summariser that %s',
  { timeout: 60_000 },
  async (_, summariser) => {
    const { figures, found } = await throughChat(summariser);
    expect(figures.rawTokens).toBeGreaterThan(36_000);
    expect(found).toHaveLength(PLANTED.length);
    expect(figures.summaryCalls).toBeLessThanOrEqual(8);
    expect(figures.passes).toBeLessThanOrEqual(8);
    expect(figures.uncached + figures.summaryTokens).toBeLessThanOrEqual(60_000);
    expect(figures.largest).toBeLessThanOrEqual(6144 - 512);
    expect(figures.prefix).toBeGreaterThan(0.88);
  },
);

interface Served {
  readonly figures: readonly Figures[];
  /** Mean share of the ids seen so far that are still in view. */
  readonly ids: number;
}

/** Six customers' worth of records each, with the same three call ids over and over. */
async function throughService(contextLength: number): Promise<Served> {
  const window = contextLength * 0.75;
  const shares: number[] = [];
  const figures: Figures[] = [];
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const built = build({ summariser: forgetful(0.1, seed), contextLength });
    const onRequest = (view: readonly Message[], history: readonly Message[]) => {
      const text = JSON.stringify(view.map(({ content, tool_calls: calls }) => [content, calls]));
      const ids = [...recordIds(history)];
      shares.push(ids.length === 0 ? 1 : ids.filter((id) => text.includes(id)).length / ids.length);
      const isUser = ({ role }: Message) => role === 'user';
      expect(view.findLast(isUser)).toEqual(history.findLast(isUser));
    };
    const target = Math.floor(0.6 * (window - 1024));
    figures.push(
      await replay(built, service(seed, 13_000, 9, 200), {
        window,
        required: 512,
        target,
        overhead: 0,
        onRequest,
      }),
    );
  }
  return { figures, ids: shares.reduce((sum, share) => sum + share, 0) / shares.length };
}

test.each([
  [8192, 0.8, 0.94],
  [16_384, 0.95, 0.97],
] as const)(
  'agents with records full of ids keep them in view through %i tokens',
  { timeout: 120_000 },
  async (contextLength, ids, prefix) => {
    const served = await throughService(contextLength);
    const sum = (pick: (figures: Figures) => number) =>
      served.figures.reduce((all, one) => all + pick(one), 0);
    expect(sum(({ rawTokens }) => rawTokens)).toBeGreaterThan(78_000);
    expect(served.ids).toBeGreaterThanOrEqual(ids);
    expect(sum(({ summaryCalls }) => summaryCalls)).toBeLessThanOrEqual(20);
    expect(sum(({ uncached }) => uncached)).toBeLessThanOrEqual(130_000);
    const requests = sum((figures) => figures.requests);
    expect(sum((figures) => figures.prefix * figures.requests) / requests).toBeGreaterThan(prefix);
    expect(sum(({ irreducible }) => irreducible)).toBe(0);
  },
);
