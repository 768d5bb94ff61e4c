import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { simulator } from '../support/simulator.js';
import type { Measures } from './measures.js';
import { prove } from './run-proof.js';
import { barsOf, type ScenarioName, scenario } from './scenarios.js';
import { PROVED_CODE, PROVED_ENGINE } from './stage.js';
import type { SummariserKind } from './summariser.js';

/** With passes that are made early, as by default, or with `prepare: 0`. */
type Preparing = 'early' | 'when due';

const TEN_MINUTES = 600_000;
/** A configuration with `compression.prepare: 0`. */
const WHEN_DUE = join(import.meta.dirname, 'when-due.yaml');

async function run(
  name: ScenarioName,
  summariser: SummariserKind,
  contextLength = 8192,
  preparing: Preparing = 'early',
): Promise<Measures> {
  expect(inject('simulatorControlUrl')).toBeTruthy();
  const models = [{ id: 'simulated', maxModelLen: contextLength }];
  const upstream = await simulator({ vllm: '0.16', models });
  try {
    const proof = await prove({
      ...scenario(name),
      simulatorUrl: upstream.url,
      contextLength,
      engine: PROVED_ENGINE,
      summariser,
      code: PROVED_CODE,
      ...(preparing === 'early' ? {} : { flags: { config: WHEN_DUE } }),
    });
    const missed = barsOf(name, contextLength, summariser, proof.measures).filter(({ met }) => !met);
    expect(missed).toEqual([]);
    return proof.measures;
  } finally {
    await upstream.close();
  }
}

describe('a conversation of 37,000 tokens in a context of 8,192', { timeout: TEN_MINUTES }, () => {
  it('keeps what was said, in few summary calls, and stays in the prefix cache', async () => {
    await run('long', 'good');
  });

  it('does as much where passes are made when they are due', async () => {
    await run('long', 'good', 8192, 'when due');
  });

  it.each(['good', 'amnesic'] as const)(
    'goes on byte for byte after the proxy was killed in the middle, with a summariser that is %s',
    async (summariser) => {
      const { prefixBreaks } = await run('restart', summariser);
      const { killAt = 0 } = scenario('restart');
      expect(prefixBreaks).not.toContain(killAt + 1);
    },
  );

  it.each(['good', 'amnesic'] as const)(
    'is compressed at once when all of three windows arrives in the first request, with a summariser that is %s',
    async (summariser) => {
      await run('cold', summariser);
    },
  );

  it('keeps ids and numbers even where the summaries say nothing', async () => {
    await run('long', 'amnesic');
    await run('long', 'amnesic', 8192, 'when due');
  });
});

describe('agents at work for 77,000 tokens, with summaries that lose ids', { timeout: TEN_MINUTES }, () => {
  it('have what they need in view with a context of 8,192', async () => {
    await run('agent', 'lossy', 8192);
  });

  it('have as much where passes are made when they are due', async () => {
    await run('agent', 'lossy', 8192, 'when due');
  });

  it('have what they need in view with a context of 16,384', async () => {
    await run('agent', 'lossy', 16_384);
  });
});
