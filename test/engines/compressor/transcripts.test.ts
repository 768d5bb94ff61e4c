import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { build, roughly } from './support/build.js';
import { expectSound, run } from './support/invariants.js';
import {
  amnesic,
  empty,
  failing,
  injecting,
  refusing,
  repeating,
  type Summariser,
  tooLong,
} from './support/summarisers.js';

interface Case {
  readonly name: string;
  readonly messages: Message[];
}

const FILE = new URL('../../vectors/transcripts.json', import.meta.url);
const { cases } = JSON.parse(readFileSync(FILE, 'utf8')) as {
  cases: Case[];
};

const SUMMARISERS: Readonly<Record<string, Summariser>> = {
  repeating,
  amnesic,
  empty,
  failing,
  injecting,
  refusing,
  tooLong,
};

test.each(Object.entries(SUMMARISERS))(
  'every awkward shape stays sound with a summariser that is %s',
  { timeout: 120_000 },
  async (name, summariser) => {
    for (const [index, given] of cases.entries()) {
      // All of them once, with the summariser that is well; the others see every fourth.
      if (name !== 'repeating' && index % 4 !== name.length % 4) continue;
      const size = roughly(given.messages);
      const shares = name === 'repeating' ? [0.6, 0.25, 0.1] : [0.3];
      for (const share of shares) await expectSoundCase(given, Math.floor(size * share), summariser);
    }
  },
);

async function expectSoundCase(
  { name, messages }: Case,
  target: number,
  summariser: Summariser,
): Promise<void> {
  const contextLength = Math.max(256, Math.floor(roughly(messages) * 1.3));
  const input = structuredClone(messages);
  const built = build({ summariser, contextLength });
  const outcome = await run(built, input, target);
  expect(input, name).toEqual(messages);
  expect(built.counts(), name).toBeLessThanOrEqual(7);
  try {
    expectSound(messages, outcome, target);
  } catch (error) {
    throw new Error(`${name}, target ${target} of ${roughly(messages)}`, { cause: error });
  }
  if (target % 3 !== 0) return;
  const again = await run(build({ summariser, contextLength }), structuredClone(messages), target);
  expect(JSON.stringify(again.result), name).toBe(JSON.stringify(outcome.result));
}
