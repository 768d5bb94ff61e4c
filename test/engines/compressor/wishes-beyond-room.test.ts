import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { readSettings } from '../../../src/engines/compressor/settings.js';
import { type Built, build, roughly } from './support/build.js';
import { filler } from './support/histories.js';
import { replay } from './support/replay.js';
import { failing, randomFrom, repeating } from './support/summarisers.js';

const REQUIRED = 256;
const ALL_AT_MOST = {
  tail_share: 0.8,
  head_share: 0.5,
  summary_share: 0.5,
  ledger_share: 0.5,
  digest_share: 0.5,
};
/** More messages than there are: the tail wishes for all of them. */
const PROTECTED = { protectFirstN: 100, protectLastN: 1000 };

function talk(): Message[] {
  const random = randomFrom(5);
  const turns = Array.from({ length: 60 }, (_, turn): Message[] => [
    { role: 'user', content: `What of order #W${5_000_000 + turn}? ${filler(20, random)}` },
    { role: 'assistant', content: filler(60, random) },
  ]);
  return [{ role: 'system', content: 'You answer in short.' }, ...turns.flat()];
}

interface Passes {
  /** P after each pass. */
  readonly after: number[];
  readonly irreducible: number;
  readonly largest: number;
}

async function passesOf(built: Built, contextLength: number): Promise<Passes> {
  const after: number[] = [];
  const compress = built.engine.compress.bind(built.engine);
  built.engine.compress = async (messages, options) => {
    const result = await compress(messages, options);
    after.push(roughly(result));
    return result;
  };
  const window = contextLength * 0.75;
  const target = Math.floor(0.6 * (window - REQUIRED));
  const told = await replay(built, talk(), { window, required: REQUIRED, target, overhead: 0 });
  return { after, irreducible: told.irreducible, largest: told.largest };
}

test.each([
  [1024, 'repeats', repeating],
  [1024, 'fails', failing],
  [2048, 'repeats', repeating],
  [4096, 'fails', failing],
] as const)(
  'wishes that no target can grant cost no more passes than the defaults: %i tokens, a summariser that %s (stephenschoettler/hermes-lcm#441, stephenschoettler/hermes-lcm#608)',
  async (contextLength, _, summariser) => {
    const due = contextLength * 0.75 - REQUIRED;
    const usual = await passesOf(build({ summariser, contextLength }), contextLength);
    const wishing = build({ summariser, contextLength, options: ALL_AT_MOST, ...PROTECTED });
    const { after, irreducible, largest } = await passesOf(wishing, contextLength);
    expect(after.length).toBeGreaterThan(2);
    expect(after.length).toBeLessThanOrEqual(usual.after.length * 1.5 + 2);
    expect(irreducible).toBe(0);
    // After a pass there is room for some turns more.
    for (const tokens of after) expect(tokens).toBeLessThanOrEqual(0.8 * due);
    expect(largest).toBeLessThanOrEqual(due);
  },
);

test('a wish that leaves room for the others is granted as it stands', () => {
  expect(readSettings({ ledger_share: 0.4 })).toMatchObject({
    summary_share: 0.18,
    ledger_share: 0.4,
    digest_share: 0.25,
  });
});
