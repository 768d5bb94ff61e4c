import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { type Built, build, roughly } from './support/build.js';
import { filler } from './support/histories.js';
import { run } from './support/invariants.js';
import { empty, failing, randomFrom, refusing, type Summariser, tooLong } from './support/summarisers.js';

const random = randomFrom(23);
const TARGET = 3072;
const TOLD = '## Goal\nServe the depot.\n## Done\nAll of it was looked at.';
const telling: Summariser = () => ({ text: TOLD, finishReason: 'stop' });

function work(name: string, turns: number): Message[] {
  return Array.from({ length: turns }, (_, i): Message[] => [
    { role: 'user', content: `${name}-${i} is to be looked at. ${filler(80, random)}` },
    { role: 'assistant', content: `${name}-${i} was looked at. ${filler(330, random)}` },
  ]).flat();
}

const asked = (content: string): Message => ({ role: 'user', content });

interface Passed {
  readonly view: Message[];
  readonly built: Built;
  /** What stands in the summary message. */
  readonly text: string;
  /** What the engine took for the summary. */
  readonly summary: string;
}

async function pass(view: readonly Message[], summariser: Summariser, force = false): Promise<Passed> {
  const built = build({ summariser, protectFirstN: 0 });
  const { result = [] } = await run(built, structuredClone([...view]), TARGET, force);
  const message = result.find(({ role, _engine_mark: mark }) => role === 'user' && mark !== undefined);
  const { summary } = (message as Message)._engine_mark as { summary: string };
  return { view: result, built, text: String(message?.content), summary };
}

const goOn = (view: readonly Message[], name: string, turns: number): Message[] => [
  ...view,
  { role: 'assistant', content: 'Good.' },
  ...work(name, turns),
  asked(`And ${name}?`),
];

const FIRST = [{ role: 'system', content: 'You help.' }, ...work('early', 14), asked('And now?')];
/** Lines that only an extract writes. */
const LINES = /^- (?:User|User, at first|Assistant): /m;

test.each(Object.entries({ failing, empty, refusing, tooLong }))(
  'an extract in place of a text that was %s is far smaller than what it stands for, and does not grow (Martian-Engineering/lossless-claw#494)',
  async (_, summariser) => {
    let { view, summary } = await pass(FIRST, summariser);
    expect(summary).toMatch(LINES);
    expect(roughly(summary)).toBeLessThan(roughly(FIRST) / 6);
    for (let i = 0; i < 5; i += 1) {
      const next = goOn(view, `later-${i}`, 10);
      ({ view, summary } = await pass(next, summariser, true));
      expect(roughly(summary)).toBeLessThan(roughly(next) / 6);
      expect(summary.length).toBeLessThan(3000);
      expect(summary.match(/^## Goal$/gm)).toHaveLength(1);
      expect(summary.match(/^## (?:Done|State)$/gm)?.length).toBeLessThanOrEqual(4);
      expect(summary).toContain(`later-${i}-`);
    }
  },
);

test.each([true, false])(
  'an extract stands until the model answers again, and nothing of it is left then; at once: %s (Martian-Engineering/lossless-claw#79, Martian-Engineering/lossless-claw#1107)',
  async (force) => {
    const extract = await pass(FIRST, failing);
    const twice = await pass(goOn(extract.view, 'between', 10), failing, true);
    let passed = twice;
    for (let i = 0; i < 12 && passed.built.calls.every(({ answer }) => answer !== TOLD); i += 1)
      passed = await pass(goOn(passed.view, `later-${i}`, 8), telling, force);
    const [call] = passed.built.calls;
    expect(call?.prompt.match(/<previous-summary>/g)).toHaveLength(1);
    expect(call?.prompt.match(/<conversation-summary/g)).toBeNull();
    expect(passed.summary).toBe(TOLD);
    for (const line of twice.summary.split('\n').filter((line) => LINES.test(line)))
      expect(passed.text).not.toContain(line);
    const after = await pass(goOn(passed.view, 'last', 10), telling, true);
    expect(after.summary).toBe(TOLD);
    expect(after.text).not.toMatch(LINES);
  },
);
