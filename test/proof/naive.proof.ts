import { expect, it } from 'vitest';
import { simulator } from '../support/simulator.js';
import { longConversation } from './long-conversation.js';
import type { Measures } from './measures.js';
import { startNaiveProxy } from './naive-proxy.js';
import { prove } from './run-proof.js';
import type { SummariserKind } from './summariser.js';

const CONTEXT = 8192;

async function naive(summariser: SummariserKind): Promise<Measures> {
  const models = [{ id: 'simulated', maxModelLen: CONTEXT }];
  const upstream = await simulator({ vllm: '0.16', models });
  const { measures } = await prove({
    recording: longConversation(),
    simulatorUrl: upstream.url,
    contextLength: CONTEXT,
    engine: 'naive',
    summariser,
    code: 'dist',
    proxyFor: (url) => startNaiveProxy(url, upstream.url, CONTEXT),
  });
  await upstream.close();
  return measures;
}

it('the measures show what a proxy that only summarises keeps', async () => {
  const found = await naive('good');
  expect(found).toMatchObject({ clientFailures: 0, over: 0, brokenPairs: 0, lastUserLost: 0, right: 12 });
  expect(found.prefixBreaks.length).toBe(found.summaryCalls);
});

it('the measures show that it loses everything when the summariser forgets', async () => {
  expect(await naive('amnesic')).toMatchObject({ clientFailures: 0, over: 0, brokenPairs: 0, right: 0 });
});
