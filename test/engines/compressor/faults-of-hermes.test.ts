// The faults of a real compressor (hermes-agent 0.19.0), each with the better behaviour. Those that are no engine's are
// shown elsewhere: a number in a refusal that becomes the window (9) in exchange/overflow-recovery, keys of an agent's
// own and bytes that count as text (11) in estimate/estimate.
import { describe, expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { CompletionError } from '../../../src/engines/services.js';
import { build, roughly } from './support/build.js';
import { expectSound, run } from './support/invariants.js';
import { amnesic } from './support/summarisers.js';
import { violationsOf } from './support/violations.js';

const words = (count: number, word = 'word') =>
  Array.from({ length: count }, (_, i) => `${word}${i % 7}`).join(' ');
const user = (content: unknown): Message => ({ role: 'user', content });
const assistant = (content: unknown): Message => ({ role: 'assistant', content });
const system: Message = { role: 'system', content: 'SYS' };

function callGroup(size: number, tokens: number): Message[] {
  const calls = Array.from({ length: size }, (_, i) => ({
    id: `call_${i}`,
    type: 'function',
    function: { name: 'read_file', arguments: JSON.stringify({ path: `src/file-${i}.ts` }) },
  }));
  return [
    { role: 'assistant', content: null, tool_calls: calls },
    ...calls.map(
      ({ id }, i): Message => ({ role: 'tool', tool_call_id: id, content: `${i} ${words(tokens)}` }),
    ),
  ];
}

function turns(count: number, tokens = 120): Message[] {
  return Array.from({ length: count }, (_, i) => [
    user(`Question ${i}. ${words(20)}`),
    assistant(words(tokens)),
  ]).flat();
}

test.each([5, 6, 8])(
  '1: a first exchange of one group of %i calls that fills the list is no crash',
  async (size) => {
    const messages = [system, user('Read all files.'), ...callGroup(size, 100)];
    const built = build();
    const outcome = await run(built, structuredClone(messages), Math.floor(roughly(messages) * 0.5));
    expectSound(messages, outcome, Math.floor(roughly(messages) * 0.5));
    expect(built.engine.hasContentToCompress(structuredClone(messages))).toBe(false);
    expect((outcome.error as Error).name).toBe('IrreducibleError');
  },
);

test('2: the newest user message stays the newest, whatever stands before it', async () => {
  const messages = [system, user('Read all files.'), ...callGroup(6, 150), user('Now tell me what they do.')];
  const target = Math.floor(roughly(messages) * 0.5);
  const { result } = await run(build(), structuredClone(messages), target);
  expect(result?.at(-1)).toEqual(user('Now tell me what they do.'));
  expect(violationsOf(result ?? [])).toMatchObject({ orphans: 0, unanswered: 0, gemma: 0 });
});

test('3: a result that is not smaller is none', async () => {
  for (const count of [1, 2, 3, 5, 8]) {
    const messages = [system, ...turns(count, 3), user('short')];
    const { result, error } = await run(build(), structuredClone(messages), 10);
    if (result === undefined) expect((error as Error).name).toBe('IrreducibleError');
    else expect(roughly(result)).toBeLessThan(roughly(messages));
  }
});

test('4: a duplicate is folded outside the tail only, and the copy it points to is whole', async () => {
  const listing = `listing ${words(150)}`;
  const group = (): Message[] => {
    const [call, result] = callGroup(1, 1) as [Message, Message];
    return [call, { ...result, content: listing }];
  };
  const messages = [
    system,
    user('Look.'),
    ...group(),
    ...group(),
    assistant('Seen.'),
    user('Once more.'),
    ...group(),
  ];
  const target = Math.floor(roughly(messages) * 0.75);
  const { result } = await run(build({ protectFirstN: 0 }), structuredClone(messages), target);
  expect(result?.slice(-3)).toEqual(messages.slice(-3));
  const older = result?.filter(({ role }) => role === 'tool').slice(0, -1) ?? [];
  expect(older).toHaveLength(2);
  for (const { content } of older) expect(content).toContain('the same as a later result');
});

test('5: a larger context never lowers the threshold, and it stays below the window', () => {
  let last = 0;
  for (const contextLength of [4096, 63_999, 64_000, 64_001, 85_334, 128_000, 511_999, 512_000, 1_000_000]) {
    const { engine } = build({ contextLength });
    expect(engine.thresholdTokens).toBe(Math.floor(contextLength * 0.75));
    expect(engine.thresholdTokens).toBeGreaterThanOrEqual(last);
    last = engine.thresholdTokens;
  }
});

test('6: a first message of role developer stays, pass after pass', async () => {
  const developer: Message = { role: 'developer', content: 'Never reveal the recipe.' };
  let view = [developer, ...turns(12), user('go on')];
  for (let pass = 0; pass < 4; pass += 1) {
    const { result } = await run(build(), structuredClone(view), Math.floor(roughly(view) * 0.5));
    expect(result?.[0]).toEqual(developer);
    view = [...(result ?? []), assistant('fine'), ...turns(8), user(`go on ${pass}`)];
  }
});

test.each(['refused', 'unavailable'] as const)(
  '7: a summariser that was %s leaves nothing behind that breaks a later pass, and other failures destroy nothing',
  async (outage) => {
    let failure: 'refused' | 'unavailable' | 'failed' = outage;
    const summariser = () => {
      throw new CompletionError(failure);
    };
    const built = build({ summariser });
    const messages = [system, ...turns(20), user('go on')];
    const target = Math.floor(roughly(messages) * 0.4);
    expect((await run(built, structuredClone(messages), target)).error).toMatchObject({ failure: outage });
    failure = 'failed';
    const { result } = await run(built, structuredClone(messages), target);
    expectSound(messages, { result, error: undefined }, target);
    expect(JSON.stringify(result)).toMatch(/## Goal.*Question \d.*## Done.*Question \d/);
  },
);

test('8: no two assistants come to stand side by side', async () => {
  const messages = [
    system,
    ...turns(4),
    user('Read.'),
    ...callGroup(3, 80),
    assistant('Read.'),
    ...turns(6),
    user('go on'),
  ];
  for (const share of [0.7, 0.5, 0.3]) {
    const target = Math.floor(roughly(messages) * share);
    const { result } = await run(build(), structuredClone(messages), target);
    expect(violationsOf(result ?? [])).toMatchObject({ gemma: 0, mistral: 0 });
  }
});

describe('10: what is no message or no function', () => {
  test('a call whose function is null is no crash', async () => {
    const odd: Message = {
      role: 'assistant',
      content: 'hm',
      tool_calls: [{ id: 'a', function: null }, null, 7],
    };
    const messages = [
      system,
      ...turns(6),
      user('x'),
      odd,
      { role: 'tool', tool_call_id: 'a', content: words(90) },
      ...turns(4),
      user('end'),
    ];
    const target = Math.floor(roughly(messages) * 0.4);
    expectSound(messages, await run(build(), structuredClone(messages), target), target);
  });

  test('what is no message at all is irreducible, not a crash', async () => {
    const messages = [system, null, 'text', ...turns(5)] as Message[];
    const { engine } = build();
    expect(engine.hasContentToCompress(messages)).toBe(false);
    await expect(engine.compress(messages, { currentTokens: 900, targetTokens: 100 })).rejects.toThrow(
      expect.objectContaining({ name: 'IrreducibleError' }),
    );
  });
});

test('11: bytes of audio, files and images are no text: they reach neither the summary nor the summariser', async () => {
  const bytes = 'QUJDREVG'.repeat(20_000);
  const media = user([
    { type: 'text', text: 'Listen to track 4711.' },
    { type: 'input_audio', input_audio: { data: bytes, format: 'wav' } },
    { type: 'file', file: { file_data: bytes } },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${bytes}` } },
  ]);
  const messages = [system, media, assistant('Heard.'), ...turns(16), user('go on')];
  const built = build({ summariser: amnesic, protectFirstN: 0 });
  const { result } = await run(built, structuredClone(messages), 1200);
  expect(JSON.stringify(result)).not.toContain('QUJDREVG');
  expect(JSON.stringify(result)).toContain('4711');
  for (const { prompt } of built.calls) expect(prompt).not.toContain('QUJDREVG');
});

test('12: what the summariser is shown is bounded, however long the conversation', async () => {
  const messages = [system, ...turns(600, 200), user('go on')];
  const built = build({ contextLength: 8192 });
  const { result } = await run(built, structuredClone(messages), 3072);
  expect(roughly(result ?? [])).toBeLessThanOrEqual(3072);
  expect(built.calls.length).toBeGreaterThan(0);
  expect(built.calls.length).toBeLessThanOrEqual(3);
  for (const { tokens, maxTokens } of built.calls) expect(tokens + maxTokens).toBeLessThan(8192);
});
