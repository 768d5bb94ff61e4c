import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WireMessage } from './recording.js';
import type { Upstreamed } from './relay.js';
import { type Stage, stage } from './stage.js';
import { pastTalk, talk, userTurn } from './talk.js';
import { brokenPairs } from './tool-pairs.js';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

/** Enough turns of 220 tokens for at least one compression. */
const LONG = 34;

describe('two conversations', () => {
  it('with different credentials share nothing, though they open with the same words', async () => {
    const one = { stage: on, run: 'one', topic: 1, options: { apiKey: 'key-one' } };
    const two = { stage: on, run: 'two', topic: 1, options: { apiKey: 'key-two' } };
    const opened = await talk({ ...one, mark: 'mark-open' }, [], LONG);
    const before = summaryNames(on.summaries());
    await Promise.all([
      talk({ ...one, mark: 'mark-one' }, opened, LONG),
      talk({ ...two, mark: 'mark-two' }, opened, LONG),
    ]);
    expect(before.length).toBeGreaterThan(0);
    expect(holding(on.of('two'), 'mark-one', ...before)).toEqual([]);
    expect(holding(on.of('one'), 'mark-two')).toEqual([]);
    expectNoMix(on.summaries(), 'mark-one', 'mark-two');
  });

  it('that are forks of one share what came before, and nothing after', async () => {
    const trunk = await talk({ stage: on, run: 'trunk', topic: 2, mark: 'mark-trunk' }, [], LONG);
    expect(on.summaries().length).toBeGreaterThan(0);
    await Promise.all([
      talk({ stage: on, run: 'left', topic: 3, mark: 'mark-left' }, trunk, LONG),
      talk({ stage: on, run: 'right', topic: 4, mark: 'mark-right' }, trunk, LONG),
    ]);
    expect(holding(on.of('left'), 'mark-right')).toEqual([]);
    expect(holding(on.of('right'), 'mark-left')).toEqual([]);
    expect(on.of('left').every((one) => holds(one, 'mark-trunk'))).toBe(true);
    expect(on.of('right').every((one) => holds(one, 'mark-trunk'))).toBe(true);
    expectNoMix(on.summaries(), 'mark-left', 'mark-right');
  });

  it('of which one is not compressed yet are as they are', async () => {
    await talk({ stage: on, run: 'long', topic: 5, mark: 'mark-long' }, [], LONG);
    const short = await talk({ stage: on, run: 'short', topic: 6, mark: 'mark-short' }, [], 4);
    const last = on.of('short').at(-1);
    expect(last?.request.messages.slice(1)).toEqual(short.slice(0, -1));
  });
});

describe('one conversation', () => {
  it('sends the same bytes when an answer is made anew, and forgets the answer that was thrown away', async () => {
    const history = await talk({ stage: on, run: 'main', topic: 7 }, [], LONG);
    const asked: WireMessage[] = [...history, userTurn(7, history.length)];
    await on.send('thrown', asked);
    const kept = await on.send('kept', asked);
    const [first, again] = [on.of('thrown')[0], on.of('kept')[0]];
    expect(again?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
    await talk({ stage: on, run: 'later', topic: 7 }, [...asked, kept], LONG);
    expect(holding(on.of('later'), 'of thrown')).toEqual([]);
    expect(holding(on.summaries(), 'of thrown')).toEqual([]);
  });

  it('forgets what the client edited, also where it was summarised', async () => {
    const marked: WireMessage[] = [userTurn(8, 0, 'mark-old'), { role: 'assistant', content: 'Noted.' }];
    const history = await talk({ stage: on, run: 'first', topic: 8 }, marked, LONG);
    expect(on.summaries().length).toBeGreaterThan(0);
    expect(holds(on.of('first').at(-1), 'mark-old')).toBe(true);
    const edited = [userTurn(8, 0, 'mark-new'), ...history.slice(1)];
    await talk({ stage: on, run: 'edited', topic: 8 }, edited, LONG);
    expect(holding(on.of('edited'), 'mark-old')).toEqual([]);
    expect(on.of('edited').every((one) => holds(one, 'mark-new'))).toBe(true);
  });

  it('goes on when the client drops its own head, without what was in it', async () => {
    const marked: WireMessage[] = [userTurn(9, 0, 'mark-head'), { role: 'assistant', content: 'Noted.' }];
    const history = await talk({ stage: on, run: 'whole', topic: 9 }, marked, LONG);
    const dropped = history.slice(2 * (LONG / 2));
    await talk({ stage: on, run: 'dropped', topic: 9 }, dropped, LONG);
    const seen = on.of('dropped');
    expect(seen.every(({ status }) => status === 200)).toBe(true);
    expect(holding(seen, 'mark-head')).toEqual([]);
    expect(seen.map(({ request }) => brokenPairs(request.messages)).filter((broken) => broken > 0)).toEqual(
      [],
    );
  });

  it('that arrives with a history three windows long is answered, and continues', async () => {
    const past = pastTalk(10, 108, 'mark-past');
    await talk({ stage: on, run: 'cold', topic: 10 }, past, 6);
    const seen = on.of('cold');
    expect(seen.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    expect(seen.every((one) => holds(one, 'mark-past'))).toBe(true);
  });
});

function holds(one: Upstreamed | undefined, text: string): boolean {
  return one?.body.includes(text) === true;
}

/** The steps of those that hold one of the texts. */
function holding(seen: readonly Upstreamed[], ...texts: readonly string[]): number[] {
  return seen.filter((one) => texts.some((text) => holds(one, text))).map(({ step }) => step);
}

/** What is written in the summaries that were made for these requests. */
function summaryNames(summaries: readonly Upstreamed[]): string[] {
  return summaries.map((_, at) => `summary-${at + 1}\\n`);
}

function expectNoMix(summaries: readonly Upstreamed[], one: string, other: string): void {
  expect(summaries.filter((summary) => holds(summary, one) && holds(summary, other))).toEqual([]);
}
