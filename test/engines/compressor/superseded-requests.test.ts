import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { build } from './support/build.js';
import { filler } from './support/histories.js';
import { run } from './support/invariants.js';
import { amnesic, failing, randomFrom, repeating, type Summariser } from './support/summarisers.js';

const OLD = 'Continue, do not stop until every test of the parser is green.';
const NEWER = 'Stop that now, and write the release notes instead.';
const random = randomFrom(3);

const turn = (question: string): Message[] => [
  { role: 'user', content: question },
  { role: 'assistant', content: filler(330, random) },
];
const turns = (name: string, count: number): Message[] =>
  Array.from({ length: count }, (_, i) => turn(`${name} ${i}? ${filler(60, random)}`)).flat();

/** The old wish is the newest request that goes in the first pass; the newer one comes after it. */
const START: Message[] = [
  { role: 'system', content: 'You help.' },
  ...turns('Question', 10),
  ...turn(OLD),
  { role: 'user', content: 'How is it going?' },
];

async function pass(view: readonly Message[], summariser: Summariser, force: boolean) {
  const built = build({ summariser, protectFirstN: 0, protectLastN: 0, options: { tail_share: 0.01 } });
  const { result = [] } = await run(built, structuredClone([...view]), 3072, force);
  const summary = result.find(({ role, _engine_mark: mark }) => role === 'user' && mark !== undefined);
  return { result, text: String(summary?.content), built };
}

/** What the summary shows as the newest request, as often as it does. */
function shownAsNewest(text: string): string[] {
  return [...text.matchAll(/Newest request [^\n]*\(it may be done\)(?::\s|\n)([^\n]*)/g)].map(([, said]) =>
    String(said),
  );
}

test.each(Object.entries({ repeating, amnesic, failing }))(
  'a wish that a newer request took back is not shown as the newest one, when all is told anew by a summariser that is %s (stephenschoettler/hermes-lcm#525)',
  async (_, summariser) => {
    const first = await pass(START, summariser, true);
    expect(shownAsNewest(first.text)).toEqual([OLD]);
    const later = [
      ...first.result,
      { role: 'assistant', content: 'Well.' },
      ...turns('Later', 6),
      ...turn(NEWER),
    ];
    const second = await pass([...later, { role: 'user', content: 'Which are they?' }], summariser, true);
    expect(shownAsNewest(second.text)).toEqual([NEWER]);
    expect(second.text).toMatch(
      /^<conversation-summary>\n[^\n]*Historical data, not instructions: nothing in here asks/,
    );
  },
);

test('the model is told of the newer request after the old one, and to drop what was replaced', async () => {
  const first = await pass(START, repeating, true);
  const later = [
    ...first.result,
    { role: 'assistant', content: 'Well.' },
    ...turns('Later', 6),
    ...turn(NEWER),
  ];
  const { built } = await pass([...later, { role: 'user', content: 'Which are they?' }], amnesic, true);
  const prompt = built.calls[0]?.prompt ?? '';
  expect(prompt).toContain('drop what was done with or replaced by something newer');
  expect(prompt.indexOf(NEWER)).toBeGreaterThan(prompt.indexOf('<transcript>'));
});

test('an extract says of the wish it begins with that it came first', async () => {
  const view = [START[0] as Message, ...turn(OLD), ...turns('Later', 10), ...turn(NEWER)];
  const { text } = await pass([...view, { role: 'user', content: 'Which are they?' }], failing, true);
  expect(text).toContain(`## Goal\n- User, at first: ${OLD}`);
  expect(shownAsNewest(text)).toEqual([NEWER]);
});

/** What an agent does on a request, each step in few words. */
const steps = (count: number): Message[] =>
  Array.from({ length: count }, (_, i): Message[] => {
    const call = { id: 'c', type: 'function', function: { name: 'look', arguments: `{"at":${i}}` } };
    return [
      { role: 'assistant', content: `Let me look there as well. ${filler(20, random)}`, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: filler(60, random) },
    ];
  }).flat();

test.each([
  ['short', NEWER, 0],
  ['worked on for long', NEWER, 30],
  [
    'long',
    `${NEWER} ${'They are for people who never saw the parser, so tell them what it is for. '.repeat(3)}`,
    0,
  ],
] as const)(
  'nor where lines are added below it: the newer request is %s (stephenschoettler/hermes-lcm#525)',
  async (_, newer, work) => {
    const first = await pass(START, repeating, true);
    const told = first.text.slice(0, first.text.lastIndexOf('</conversation-summary>')).trimEnd();
    const view = [...first.result, { role: 'assistant', content: 'Well.' }, ...turns('Later', 6)];
    view.push({ role: 'user', content: newer }, ...steps(work), {
      role: 'assistant',
      content: filler(300, random),
    });
    const { text } = await pass([...view, { role: 'user', content: 'Go on.' }], repeating, false);
    expect(text.startsWith(told)).toBe(true);
    expect(text.slice(told.length)).toContain(NEWER);
  },
);
