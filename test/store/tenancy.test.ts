import { beforeEach, expect, test } from 'vitest';
import type { ConversationStore } from '../../src/store/conversation-store.js';
import { chain, checkpoint, commitOf, conversation, inProcess, query, row } from './support/material.js';

// They differ in nothing that UTF-8 could tell apart.
const MINE = 'tenant \ud800';
const THEIRS = 'tenant \ud801';
const theirs = conversation('theirs', THEIRS, { explicitId: 'session' });
const nodes = chain(theirs, ['m0', 'm1', 'm2']);
const last = nodes[2] as (typeof nodes)[0];
let store: ConversationStore;

beforeEach(async () => {
  store = inProcess();
  await store.commit(commitOf(theirs, nodes, { checkpoint: checkpoint(nodes[0]) }));
  await store.saveHiddenRound(THEIRS, theirs.id, { visible: nodes[0].hash, rows: [row('{}')] });
});

test('nothing of a tenant is found by another, though it knows every hash and id', async () => {
  const nothing = { nodes: [], checkpoint: undefined, conversation: undefined, others: [] };
  const ask = query(nodes, { tenant: MINE, explicitId: 'session' });
  const contents = nodes.map(({ content }) => content);
  for (const known of [false, true]) {
    // A tenant that the store has never seen, then one that it knows.
    if (known) await store.commit(commitOf(conversation('mine', MINE), []));
    expect(await store.loadPath(ask)).toEqual(nothing);
    expect(await store.findRun(MINE, contents)).toBeUndefined();
    expect(await store.hasCheckpoints(MINE)).toBe(false);
    expect(await store.loadHiddenRounds(MINE, [nodes[0].hash])).toEqual([]);
  }
  expect((await store.loadPath({ ...ask, tenant: THEIRS })).nodes).toEqual(nodes);
  expect(await store.hasCheckpoints(THEIRS)).toBe(true);
});

test('tenants may have the same hashes, each with its own', async () => {
  const mine = conversation('mine', MINE);
  const same = nodes.map((node) => ({ ...node, conversation: mine.id, uid: 'a'.repeat(32) }));
  await store.commit(commitOf(mine, same));
  expect((await store.loadPath(query(same, { tenant: MINE }))).nodes).toEqual(same);
  expect((await store.loadPath(query(nodes, { tenant: THEIRS }))).nodes).toEqual(nodes);
});

test('a tenant cannot write to a conversation of another', async () => {
  const seized = { ...theirs, tenant: MINE };
  await expect(store.commit({ tenant: MINE, conversation: seized, nodes: [] })).rejects.toThrow(
    'another tenant',
  );
  const mine = conversation('mine', MINE);
  const below = chain(mine, ['m0']).map((node) => ({ ...node, conversation: theirs.id }));
  await expect(store.commit(commitOf(mine, below))).rejects.toThrow('SQLITE_CONSTRAINT');
  await expect(store.saveHiddenRound(MINE, theirs.id, { visible: last.hash, rows: [] })).rejects.toThrow(
    'SQLITE_CONSTRAINT',
  );
  expect((await store.conversation(theirs.id))?.conversation).toEqual(theirs);
});

test('messages do not stand below those of another tenant', async () => {
  const mine = conversation('mine', MINE);
  await expect(store.commit(commitOf(mine, chain(mine, ['m3'], last)))).rejects.toThrow('does not know');
});
