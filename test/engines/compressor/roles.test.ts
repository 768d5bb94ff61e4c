import { expect, test } from 'vitest';
import { checkResult } from '../../../src/conversation/check-result.js';
import type { Message } from '../../../src/conversation/message.js';
import { build, roughly } from './support/build.js';
import { expectSound, run } from './support/invariants.js';
import { violationsOf } from './support/violations.js';

const long = (word: string) => `${word} `.repeat(120);
const user = (content: unknown): Message => ({ role: 'user', content });
const assistant = (content: unknown): Message => ({ role: 'assistant', content });
const group = (id: string, size = 120): Message[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: `{"at":"${id}"}` } }],
  },
  { role: 'tool', tool_call_id: id, content: 'seen '.repeat(size) },
];

const HEADS: Readonly<Record<string, Message[]>> = {
  'no head': [],
  'a system message': [{ role: 'system', content: 'S' }],
  'system and developer': [
    { role: 'system', content: 'S' },
    { role: 'developer', content: 'D' },
  ],
};
const MIDDLE = Array.from({ length: 8 }, (_, i) => [user(long(`u${i}`)), assistant(long(`a${i}`))]).flat();
const TAILS: Readonly<Record<string, Message[]>> = {
  'a user message': [user('last')],
  'a whole turn and a user message': [user('before'), assistant('yes'), user('last')],
  'a tool loop': [user('last'), ...group('c1', 10), ...group('c2', 10)],
  'a prefill': [user('last'), assistant('Sure, ')],
  'calls before the last user message': [user('before'), ...group('c1', 10), assistant('so'), user('last')],
};
const cases = Object.keys(HEADS).flatMap((head) =>
  Object.keys(TAILS).flatMap((tail) =>
    [0, 1, 2, 3].map((first): [string, string, number] => [head, tail, first]),
  ),
);

test.each(cases)(
  'roles alternate between %s and %s, %i first messages protected',
  async (head, tail, protectFirstN) => {
    const messages = [...(HEADS[head] ?? []), ...MIDDLE, ...(TAILS[tail] ?? [])];
    const given = { protectFirstN, options: { head_share: 0.5 } };
    for (const share of [0.7, 0.45, 0.3]) {
      const target = Math.floor(roughly(messages) * share);
      const outcome = await run(build(given), structuredClone(messages), target);
      expectSound(messages, outcome, target);
      // Gemma knows no tools: with them the input breaks its rule already.
      const gemma = violationsOf(messages).gemma ?? 0;
      const found = violationsOf(outcome.result ?? []);
      expect(found).toMatchObject({ mistral: 0, orphans: 0, unanswered: 0 });
      expect(found.gemma).toBeLessThanOrEqual(gemma);
    }
  },
);

test('messages that stay are the ones that came, byte for byte', async () => {
  const messages = [...MIDDLE, user('last')].map((message, i) => ({
    ...message,
    message_uid: `${i}`.padStart(32, '0'),
  }));
  const { result } = await run(build(), structuredClone(messages), Math.floor(roughly(messages) * 0.5));
  for (const message of result ?? []) {
    if (message._engine_mark === undefined) expect(messages).toContainEqual(message);
    else expect(message.message_uid).toMatch(/^[0-9a-f]{32}$/);
  }
});

test('a turn that alone is too big is shortened at the borders of its groups, its request stays', async () => {
  const request = user('Do all of it, and mind order #W7654321.');
  const messages = [
    { role: 'system', content: 'S' },
    ...MIDDLE.slice(0, 2),
    request,
    ...Array.from({ length: 14 }, (_, i) => group(`call_${i % 3}`, 220)).flat(),
  ];
  const target = Math.floor(roughly(messages) * 0.4);
  const { result = [] } = await run(build(), structuredClone(messages), target);
  expect(roughly(result)).toBeLessThanOrEqual(target);
  const at = result.findLastIndex(({ role }) => role === 'user');
  expect(result[at]).toEqual(request);
  expect(result.slice(-2)).toEqual(messages.slice(-2));
  expect(violationsOf(result)).toMatchObject({ mistral: 0, orphans: 0, unanswered: 0 });
});

test('where no user has spoken the summary is what a user would have begun with', async () => {
  let view: Message[] = Array.from({ length: 8 }, (_, i) => group(`call_${i}`)).flat();
  for (let pass = 0; pass < 3; pass += 1) {
    const { result = [] } = await run(build(), structuredClone(view), Math.floor(roughly(view) * 0.5));
    expect(result[0]).toMatchObject({ role: 'user', _engine_mark: { kind: 'summary' } });
    expect(result.at(-1)).toEqual(view.at(-1));
    expect(checkResult(view, result, { turnMayShrink: () => false })).toBeUndefined();
    expect(violationsOf(result)).toMatchObject({ mistral: 0 });
    view = [...result, ...Array.from({ length: 8 }, (_, i) => group(`more_${pass}_${i}`)).flat()];
  }
});

test('behind calls at the beginning an acknowledgement comes before the summary, the same pass after pass', async () => {
  const opening = [user('first'), ...group('c0', 10)];
  let view: Message[] = [...opening, assistant('so'), ...MIDDLE, user('last')];
  for (let pass = 0; pass < 3; pass += 1) {
    const { result = [] } = await run(build(), structuredClone(view), Math.floor(roughly(view) * 0.5));
    expect(result.slice(0, 3)).toEqual(opening);
    expect(result.slice(3, 6)).toMatchObject([
      { role: 'assistant', content: 'Noted.' },
      { role: 'user', _engine_mark: { kind: 'summary' } },
      { role: 'assistant' },
    ]);
    const uids = result.flatMap(({ message_uid: uid }) => uid ?? []);
    expect(new Set(uids).size).toBe(uids.length);
    expect(violationsOf(result)).toMatchObject({ mistral: 0 });
    view = [...result, assistant('ok'), ...MIDDLE, user(`last ${pass}`)];
  }
});

test('what stood before an earlier summary never comes to stand behind the new one', async () => {
  const opening = [user(long('first')), assistant('yes')];
  const messages = [...opening, ...MIDDLE, user('last')];
  const kept = { protectFirstN: 2, options: { head_share: 0.5 } };
  const { result = [] } = await run(build(kept), structuredClone(messages), roughly(messages) * 0.5);
  expect(result.slice(0, 2)).toEqual(opening);
  const view = [...result.slice(0, 3), assistant('ok'), user('go on')];
  // No room for the opening any more, but for its second message at the end.
  const yielding = { protectFirstN: 2, options: { head_share: 0.01 } };
  const again = await run(build(yielding), structuredClone(view), roughly(view) * 0.6, true);
  expectSound(view, again, roughly(view) * 0.6);
  expect(again.result?.map(({ content }) => content).slice(1)).toEqual(['ok', 'go on']);
});

test('the next pass takes the acknowledgement out again', async () => {
  let view: Message[] = [...MIDDLE, user('last')];
  for (let pass = 0; pass < 4; pass += 1) {
    const { result = [] } = await run(build(), structuredClone(view), Math.floor(roughly(view) * 0.5));
    expect(result.filter(({ content }) => content === 'Noted.').length).toBeLessThanOrEqual(1);
    expect(violationsOf(result)).toMatchObject({ gemma: 0 });
    view = [...result, assistant('ok'), ...MIDDLE, user(`last ${pass}`)];
  }
});
