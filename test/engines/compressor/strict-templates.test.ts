import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { build, roughly } from './support/build.js';
import { run } from './support/invariants.js';
import { rendered, type TemplateName } from './support/strict-templates.js';

const SUMMARY = '<conversation-summary>';
const long = (word: string, count = 100) => `${word} `.repeat(count).trim();
const user = (content: unknown): Message => ({ role: 'user', content });
const assistant = (content: unknown): Message => ({ role: 'assistant', content });

/** Ids as Mistral's template wants them. */
function group(at: number, calls: number, size: number, content: unknown = null): Message[] {
  const ids = Array.from({ length: calls }, (_, i) => `call${at % 100}${i}`.padEnd(9, '0'));
  const call = (id: string) => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: `{"at":${at}}` },
  });
  return [
    { role: 'assistant', content, tool_calls: ids.map(call) },
    ...ids.map((id): Message => ({ role: 'tool', tool_call_id: id, content: long(`seen${at}`, size) })),
  ];
}

const turn = (i: number): Message[] => [user(long(`asked${i}`)), assistant(long(`said${i}`))];
const toolTurn = (i: number): Message[] => [
  user(long(`asked${i}`, 20)),
  ...group(i, 1, 20),
  ...group(i + 1, 2, 60),
  assistant(long(`said${i}`)),
];

const HEADS: Readonly<Record<string, Message[]>> = {
  'no head': [],
  'a system message': [{ role: 'system', content: 'Be helpful.' }],
};
const PLAIN: readonly Message[] = Array.from({ length: 8 }, (_, i) => turn(i)).flat();
const TAILS: Readonly<Record<string, Message[]>> = {
  'a user message': [user('last')],
  'a turn and a user message': [user('before'), assistant('yes'), user('last')],
  'a prefill': [user('last'), assistant('Sure, ')],
};
const WITH_TOOLS: readonly Message[] = Array.from({ length: 8 }, (_, i) =>
  i % 2 === 0 ? toolTurn(i) : turn(i),
).flat();
const TOOL_TAILS: Readonly<Record<string, Message[]>> = {
  ...TAILS,
  'a tool loop': [user('last'), ...group(91, 1, 10), ...group(92, 3, 10)],
  'a long tool loop': [user('last'), ...Array.from({ length: 20 }, (_, i) => group(i, 2, 60)).flat()],
  'calls and then a user message': [...toolTurn(93), user('last')],
};

function casesOf(tails: Readonly<Record<string, Message[]>>): [string, string, number][] {
  return Object.keys(HEADS).flatMap((head) =>
    Object.keys(tails).flatMap((tail) =>
      [0, 2, 3, 6].map((first): [string, string, number] => [head, tail, first]),
    ),
  );
}

async function expectRendered(
  name: TemplateName,
  messages: readonly Message[],
  protectFirstN: number,
): Promise<void> {
  expect(rendered(name, messages)).not.toContain(SUMMARY);
  for (const share of [0.7, 0.45, 0.3]) {
    const given = { protectFirstN, options: { head_share: 0.5 } };
    const { result } = await run(build(given), structuredClone([...messages]), roughly(messages) * share);
    expect(result).toBeDefined();
    const text = rendered(name, result ?? []);
    // Where old results as lines are enough, nothing is summarised.
    if (share < 0.4) expect(text).toContain(SUMMARY);
  }
}

describe("Gemma's own template renders the view of a conversation", () => {
  test.each(casesOf(TAILS))('between %s and %s, %i first messages protected', async (head, tail, first) => {
    await expectRendered('gemma', [...(HEADS[head] ?? []), ...PLAIN, ...(TAILS[tail] ?? [])], first);
  });
});

describe("Mistral's own template renders the view of a conversation with tools", () => {
  test.each(casesOf(TOOL_TAILS))(
    'between %s and %s, %i first messages protected',
    async (head, tail, first) => {
      const messages = [...(HEADS[head] ?? []), ...WITH_TOOLS, ...(TOOL_TAILS[tail] ?? [])];
      await expectRendered('mistral', messages, first);
    },
  );
});

const words = fc.integer({ min: 1, max: 120 }).map((count) => long('word', count));
const content = fc.oneof(
  { weight: 4, arbitrary: words },
  { weight: 1, arbitrary: words.map((text) => [{ type: 'text', text }]) },
);
const loop = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 80 }), fc.nat({ max: 99 })), {
    maxLength: 4,
  })
  .map((groups) => groups.flatMap(([calls, size, at]) => group(at, calls, size)));
const plainTurn = fc.tuple(content, content).map(([asked, said]) => [user(asked), assistant(said)]);
const loopTurn = fc
  .tuple(content, loop, content)
  .map(([asked, groups, said]) => [user(asked), ...groups, assistant(said)]);
const plainEnd = content.map((asked) => [user(asked)]);
const loopEnd = fc.tuple(content, loop).map(([asked, groups]) => [user(asked), ...groups]);

/** Pieces of a conversation: a pass is made behind each, when the user has asked. */
const conversation = (turns: fc.Arbitrary<Message[]>, end: fc.Arbitrary<Message[]>) =>
  fc.record({
    head: fc.constantFrom(...Object.values(HEADS)),
    pieces: fc.array(fc.tuple(fc.array(turns, { minLength: 1, maxLength: 8 }), end), {
      minLength: 1,
      maxLength: 4,
    }),
    share: fc.constantFrom(0.8, 0.6, 0.4, 0.2, 0.05),
    protectFirstN: fc.nat({ max: 6 }),
    headShare: fc.constantFrom(0.1, 0.5),
  });

test.each([
  ['gemma', conversation(plainTurn, plainEnd)],
  ['mistral', conversation(loopTurn, loopEnd)],
] as const)(
  'whatever %s renders before a pass it renders after it, pass after pass',
  {
    timeout: 120_000,
  },
  async (name, conversations) => {
    await fc.assert(
      fc.asyncProperty(conversations, async ({ head, pieces, share, protectFirstN, headShare }) => {
        let view: Message[] = [...head];
        for (const [turns, end] of pieces) {
          view = [...view, ...turns.flat(), ...end];
          rendered(name, view);
          const given = { protectFirstN, options: { head_share: headShare } };
          const { result } = await run(
            build(given),
            structuredClone(view),
            Math.floor(roughly(view) * share),
          );
          view = result ?? view;
          rendered(name, view);
          view = [...view, assistant('Done.')];
        }
      }),
      { numRuns: 40 },
    );
  },
);

test('the templates do refuse what they cannot render', () => {
  const twice = [user('a'), user('b')];
  expect(() => rendered('gemma', twice)).toThrow(/must alternate/);
  expect(() => rendered('mistral', twice)).toThrow(/must alternate/);
  expect(() => rendered('mistral', [user('a'), ...group(1, 1, 3), user('b')])).toThrow(/must alternate/);
});
