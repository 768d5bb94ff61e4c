import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { build, roughly } from './support/build.js';
import { expectKept, run } from './support/invariants.js';
import { answering, SUMMARISERS, type SummariserName } from './support/summarisers.js';

interface Case {
  readonly name: string;
  readonly messages: Message[];
}

const FILE = new URL('../../vectors/transcripts.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(FILE, 'utf8')) as {
  cases: Case[];
};

test.each(Object.keys(SUMMARISERS) as SummariserName[])(
  'every awkward shape stays sound with a summariser that is %s',
  { timeout: 120_000 },
  async (name) => {
    for (const given of cases) {
      const size = roughly(given.messages);
      const shares = name === 'repeating' ? [0.6, 0.25, 0.1] : [0.3];
      for (const share of shares) await expectSoundCase(given, Math.floor(size * share), name);
    }
  },
);

async function expectSoundCase(
  { name, messages }: Case,
  target: number,
  summariser: SummariserName,
): Promise<void> {
  const given = {
    ...answering(summariser),
    contextLength: Math.max(256, Math.floor(roughly(messages) * 1.3)),
  };
  const input = structuredClone(messages);
  const built = build(given);
  const outcome = await run(built, input, target);
  expect(input, name).toEqual(messages);
  expect(built.counts(), name).toBeLessThanOrEqual(7);
  try {
    expectKept(messages, outcome, target, built, summariser);
  } catch (error) {
    throw new Error(`${name}, target ${target} of ${roughly(messages)}`, { cause: error });
  }
  if (target % 3 !== 0) return;
  const again = await run(build(given), structuredClone(messages), target);
  expect(JSON.stringify(again.result), name).toBe(JSON.stringify(outcome.result));
}
