// Conversations in which people name far more than a summary can tell: what the engine lists of it by itself.
import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { readSummary } from '../../../src/engines/compressor/mark.js';
import { listedFacts } from '../../../src/engines/compressor/summary-message.js';
import { build, roughly } from './support/build.js';
import { filler } from './support/histories.js';
import { run } from './support/invariants.js';
import { replay } from './support/replay.js';
import { amnesic, failing, randomFrom, repeating, type Summariser } from './support/summarisers.js';

const id = (i: number) => `ORD-${10_000 + i * 37}`;
const path = (i: number) => `/srv/app/mod${i}/file_${i * 7}.ts`;

interface Told {
  readonly named: readonly string[];
  readonly messages: readonly Message[];
}

/** A user who names something new in each message. */
function told(turns: number, perTurn: number, spelled: (index: number) => string): Told {
  const random = randomFrom(5);
  const named = Array.from({ length: turns * perTurn }, (_, index) => spelled(index));
  const messages = Array.from({ length: turns }, (_, turn): Message[] => {
    const these = named.slice(turn * perTurn, (turn + 1) * perTurn).join(', ');
    const content = `${filler(30, random)} Please keep ${these} in mind. ${filler(20, random)}`;
    return [
      { role: 'user', content },
      { role: 'assistant', content: filler(300, random) },
    ];
  });
  return { named, messages: [{ role: 'system', content: 'You help.' }, ...messages.flat()] };
}

interface Seen {
  /** What of all that was named the last view still has. */
  readonly kept: readonly string[];
  /** The most that the list took, in tokens. */
  readonly largestList: number;
}

async function through({ named, messages }: Told, summariser: Summariser, target = 3072): Promise<Seen> {
  let last = '';
  let largestList = 0;
  await replay(build({ summariser }), messages, {
    window: 6144,
    required: 512,
    target,
    overhead: 0,
    onRequest: (view) => {
      last = JSON.stringify(view.map(({ content }) => content));
      for (const message of view) {
        const state = readSummary(message);
        if (state !== undefined) largestList = Math.max(largestList, roughly(listedFacts(state)));
      }
    },
  });
  return { kept: named.filter((text) => last.includes(text)), largestList };
}

const FORGETFUL = [
  ['forgets all', amnesic],
  ['fails', failing],
] as const;
const SUMMARISERS = [...FORGETFUL, ['repeats facts', repeating]] as const;

test.each(SUMMARISERS)(
  'sixty ids or paths that a user named stay in view with a summariser that %s',
  async (_, summariser) => {
    for (const spelled of [id, path]) {
      const given = told(20, 3, spelled);
      expect((await through(given, summariser)).kept).toEqual(given.named);
    }
  },
);

test.each(SUMMARISERS)('ninety ids do with a summariser that %s', async (_, summariser) => {
  const given = told(30, 3, id);
  expect((await through(given, summariser)).kept).toEqual(given.named);
});

test.each(SUMMARISERS)(
  'the list takes a quarter of the target at most with a summariser that %s',
  { timeout: 60_000 },
  async (_, summariser) => {
    for (const target of [3072, 2000]) {
      const { largestList } = await through(told(40, 3, path), summariser, target);
      expect(largestList).toBeLessThanOrEqual(target / 4);
      expect(largestList).toBeGreaterThan(target / 5);
    }
  },
);

test.each(FORGETFUL)(
  'what a user wants from now on outlives the ids named after it, with a summariser that %s',
  async (_, summariser) => {
    const { messages, named } = told(50, 3, path);
    const wish = 'Always answer in Portuguese.';
    const wished = messages.with(1, { role: 'user', content: wish });
    expect((await through({ named: [...named, wish], messages: wished }, summariser)).kept).toContain(wish);
  },
);

test('what the end of the conversation names again stays in a full list, though it is the oldest', async () => {
  const { named, messages } = told(20, 3, path);
  const first = await run(
    build({ summariser: amnesic }),
    [...messages, { role: 'user', content: 'Go on.' }],
    3072,
  );
  const again = named.slice(0, 3);
  const later: Message[] = [
    ...(first.result ?? []),
    { role: 'assistant', content: 'Fine.' },
    ...told(12, 3, (i) => path(i + 500)).messages.slice(1),
    { role: 'user', content: `Look at ${again.join(', ')} once more.` },
  ];
  const { result = [] } = await run(build({ summariser: amnesic }), later, 3072, true);
  const states = result.map(readSummary).filter((state) => state !== undefined);
  const listed = states.map(listedFacts).join();
  const of = (texts: readonly string[]) => texts.filter((text) => listed.includes(text)).length;
  expect(of(again)).toBe(3);
  expect(of(named.slice(3, 12))).toBe(0);
});

const LIKELY = [
  'Please do not use tabs anywhere.',
  'Use pnpm instead of npm for everything.',
  'I prefer short answers.',
  'No emojis.',
  'Keep functions under 40 lines.',
  'Ab jetzt bitte nur noch auf Deutsch antworten.',
  '今後は敬語を使わないでください。',
];

test('what may be meant to hold stands in the list where there is room', async () => {
  const random = randomFrom(8);
  const wished = LIKELY.flatMap((wish): Message[] => [
    { role: 'user', content: `Next one. ${wish}` },
    { role: 'assistant', content: filler(600, random) },
  ]);
  const messages = [...wished, ...told(10, 1, id).messages.slice(1)];
  expect((await through({ named: LIKELY, messages }, amnesic)).kept).toEqual(LIKELY);
});

test.each(FORGETFUL)(
  'where the list is full the oldest give way, not the newest, with a summariser that %s',
  async (_, summariser) => {
    const given = told(50, 3, path);
    const { kept } = await through(given, summariser);
    const of = (named: readonly string[]) => named.filter((text) => kept.includes(text)).length;
    expect(of(given.named.slice(-45))).toBe(45);
    expect(of(given.named.slice(0, 45))).toBeLessThan(15);
  },
);
