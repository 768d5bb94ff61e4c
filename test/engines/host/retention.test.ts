import { expect, test } from 'vitest';
import { openConversationStore } from '../../../src/store/open-conversation-store.js';
import { chain, commitOf, conversation } from '../../store/support/material.js';
import { scriptedEngine } from '../../support/engine.js';
import { countingStub, folder, type HostedOptions, hosted } from '../../support/hosted.js';

const HOUR_MS = 3_600_000;

/** Conversations by their age, in a proxy that keeps them for one day. @returns which of them it lists. */
async function kept(ages: Record<string, number>, hostLimits: HostedOptions['hostLimits'] = {}) {
  const data = folder();
  const store = await openConversationStore({ folder: data });
  const names = new Map<string, string>();
  for (const [name, age] of Object.entries(ages)) {
    const one = conversation(name, 't', { lastSeen: Date.now() - age });
    names.set(one.id, name);
    await store.commit(commitOf(one, chain(one, ['message'])));
  }
  await store.close();
  const file = { sessions: { retention: 1 } };
  const proxy = await hosted({
    engine: scriptedEngine(),
    stub: await countingStub(),
    data,
    file,
    hostLimits,
  });
  return async () => {
    const answer = await fetch(`${proxy.url}/incontext/conversations`);
    const { conversations } = (await answer.json()) as { conversations: { id: string }[] };
    return conversations.map(({ id }) => names.get(id));
  };
}

test('sessions.retention is in days: at its start the proxy deletes what is older, and nothing else', async () => {
  const listed = await kept({ young: 0, today: 23 * HOUR_MS, yesterday: 25 * HOUR_MS, old: 1000 * HOUR_MS });
  expect(await listed()).toEqual(['young', 'today']);
});

test('a proxy that runs for days deletes what has become too old', async () => {
  const listed = await kept({ young: 0, old: 24 * HOUR_MS - 500 }, { retentionEveryMs: 50 });
  await expect.poll(listed, { timeout: 10_000 }).toEqual(['young']);
});
