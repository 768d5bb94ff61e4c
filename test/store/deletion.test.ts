import { beforeEach, describe, expect, test } from 'vitest';
import type { ConversationStore, NodeRecord } from '../../src/store/conversation-store.js';
import { chain, checkpoint, commitOf, conversation, inProcess, query, row } from './support/material.js';

const old = conversation('old', 't', { lastSeen: 1_000 });
const fork = conversation('fork', 't', { lastSeen: 3_000 });
const third = conversation('third', 't', { lastSeen: 2_000 });
const trunk = chain(old, ['m0', 'm1', 'm2', 'm3', 'm4']);
const [m0, m1, m2, m3] = trunk as [NodeRecord, NodeRecord, NodeRecord, NodeRecord, NodeRecord];
let store: ConversationStore;

beforeEach(async () => {
  store = inProcess();
  const engineState = new Map([['k', '1']]);
  await store.commit(commitOf(old, trunk, { checkpoint: checkpoint(m1), engineState }));
  await store.commit(commitOf(old, [], { checkpoint: checkpoint(m3) }));
  for (const { hash } of [m0, m3]) {
    await store.saveHiddenRound('t', old.id, { visible: hash, rows: [row(hash)] });
  }
});

const known = async (nodes: readonly NodeRecord[]) => (await store.loadPath(query(nodes))).nodes;
const given = (nodes: readonly NodeRecord[], { id }: { id: string }) =>
  nodes.map((node) => ({ ...node, conversation: id }));
const rounds = async () =>
  (await store.loadHiddenRounds('t', [m0.hash, m3.hash])).map(({ visible }) => visible);

describe.each([
  ['deleting it', async () => expect(await store.deleteConversation(old.id)).toBe(true)],
  ['its age', async () => expect(await store.deleteOlderThan(1_001)).toBe(1)],
])('a conversation that goes by %s', (_, remove) => {
  test('takes all that is its own along', async () => {
    await remove();
    expect(await store.loadPath(query(trunk))).toEqual({
      nodes: [],
      checkpoint: undefined,
      conversation: undefined,
      others: [],
    });
    expect(await store.conversation(old.id)).toBeUndefined();
    expect(await store.listConversations()).toEqual([]);
    expect(await store.hasCheckpoints('t')).toBe(false);
    expect(await store.engineState(old.id, 'k')).toBeUndefined();
    expect(await rounds()).toEqual([]);
  });

  test('leaves to a fork what it stands on: nodes, and the checkpoint and hidden rounds there', async () => {
    const branch = chain(fork, ['x3', 'x4'], m2);
    await store.commit(commitOf(fork, branch));
    const path = [m0, m1, m2, ...branch];
    await remove();
    const loaded = await store.loadPath(query(path));
    expect(loaded.nodes).toEqual(given(path, fork));
    expect(loaded.checkpoint).toEqual({ ...checkpoint(m1), conversation: fork.id });
    expect(loaded.conversation).toEqual(fork);
    expect(await rounds()).toEqual([m0.hash]);
    expect(await known(trunk)).toEqual(given([m0, m1, m2], fork));
    expect((await store.conversation(fork.id))?.checkpoints).toHaveLength(1);
    expect(await store.engineState(fork.id, 'k')).toBeUndefined();
  });

  test('leaves each part to the fork seen last that stands on it', async () => {
    const early = chain(fork, ['f'], m0);
    const late = chain(third, ['t'], m2);
    await store.commit(commitOf(fork, early));
    await store.commit(commitOf(third, late));
    await remove();
    expect(await known([m0, m1, m2, ...late])).toEqual([
      ...given([m0], fork),
      ...given([m1, m2], third),
      ...late,
    ]);
    expect(await known([m0, ...early])).toEqual([...given([m0], fork), ...early]);
  });

  test('leaves what lies between nodes of others, on both sides of theirs', async () => {
    const middle = chain(fork, ['f'], m1);
    const again = chain(old, ['o'], middle[0]);
    const below = chain(third, ['t'], again[0]);
    await store.commit(commitOf(fork, middle));
    await store.commit(commitOf(old, again));
    await store.commit(commitOf(third, below));
    await remove();
    const path = [m0, m1, ...middle, ...again, ...below];
    expect(await known(path)).toEqual([
      ...given([m0, m1], fork),
      ...middle,
      ...given(again, third),
      ...below,
    ]);
  });

  test('leaves what only a checkpoint of another conversation stands on', async () => {
    const same = { ...checkpoint(m2, { engine: 'lcm' }), conversation: fork.id };
    await store.commit(commitOf(fork, [], { checkpoint: same }));
    await remove();
    const loaded = await store.loadPath(query(trunk, { engine: 'lcm' }));
    expect(loaded.nodes).toEqual(given([m0, m1, m2], fork));
    expect(loaded.checkpoint).toEqual(same);
  });

  test('can be committed anew', async () => {
    await remove();
    await store.commit(commitOf(old, trunk, { checkpoint: checkpoint(m1) }));
    expect(await known(trunk)).toEqual(trunk);
  });
});

test('deleting what is not there says so', async () => {
  expect(await store.deleteConversation('0'.repeat(32))).toBe(false);
});

test('age takes all that were seen before, and none that was seen at that time or later', async () => {
  for (let at = 0; at < 120; at += 1) {
    const each = conversation(`c${at}`, `tenant ${at % 3}`, { lastSeen: at });
    await store.commit(commitOf(each, chain(each, ['m0', `${at}`])));
  }
  expect(await store.deleteOlderThan(77)).toBe(77);
  const left = (await store.listConversations()).map(({ lastSeen }) => lastSeen);
  expect(left.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 43 }, (_, at) => 77 + at), 1_000]);
  expect(await store.deleteOlderThan(77)).toBe(0);
  const last = conversation('c119', 'tenant 2', { lastSeen: 119 });
  const path = chain(last, ['m0', '119']);
  expect(await store.loadPath(query(path, { tenant: 'tenant 2' }))).toMatchObject({ conversation: last });
});

test('age hands a trunk on from fork to fork until one stays', async () => {
  const branches = Array.from({ length: 30 }, (_, at) => {
    const owner = conversation(`b${at}`, 't', { lastSeen: 1_100 + at });
    return { owner, nodes: chain(owner, [`x${at}`], m2) };
  });
  for (const { owner, nodes } of branches) await store.commit(commitOf(owner, nodes));
  expect(await store.deleteOlderThan(1_129)).toBe(30);
  const { owner, nodes } = branches.at(-1) as (typeof branches)[0];
  expect(await known([m0, m1, m2, ...nodes])).toEqual([...given([m0, m1, m2], owner), ...nodes]);
});
