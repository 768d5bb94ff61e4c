import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import type {
  ConversationRecord,
  ConversationStore,
  NodeRecord,
} from '../../src/store/conversation-store.js';
import { neverCollected } from '../../src/store/never-collected.js';
import { FILE_NAME, openDatabase } from '../../src/store/open-database.js';
import { migratingChild, removingChild } from './support/child.js';
import {
  chain,
  checkpoint,
  commitOf,
  conversation,
  freshFolder,
  inProcess,
  query,
  row,
} from './support/material.js';

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `m${at}`);
const ROWS = Array.from({ length: 50 }, () => row(Buffer.alloc(2000, 'r')));
const YOUNG = { lastSeen: 10_000 };

const removed = conversation('removed', 't', YOUNG);
const trunk = chain(removed, numbered(2000));
/** Stands on the first half of the one that is removed. */
const kept = conversation('kept', 't', YOUNG);
const branch = chain(kept, ['x', 'y', 'z'], trunk[999]);
const aged = numbered(6).map((name) => conversation(name, 't', { lastSeen: 1_000 }));
const agedPaths = new Map(aged.map((one) => [one, chain(one, [one.id, ...numbered(300)])]));
const WHAT = {
  kept: kept.id,
  visible: branch[2]?.hash,
  rowBytes: 2000,
  rows: 50,
  removed: removed.id,
  age: 5_000,
};
/** A folder whose store holds all of that. */
async function filled(): Promise<string> {
  const folder = freshFolder();
  const store = inProcess(folder);
  await store.commit(whole(removed, trunk, trunk[899]));
  await store.commit(commitOf(kept, branch));
  for (const [one, path] of agedPaths) await store.commit(whole(one, path, path[299]));
  await store.close();
  return folder;
}

function whole(owner: ConversationRecord, path: readonly NodeRecord[], end: NodeRecord | undefined) {
  const engineState = new Map([['k', '1']]);
  return commitOf(owner, path, { checkpoint: checkpoint(end ?? trunk[0], { rows: ROWS }), engineState });
}

function checkFile(folder: string): void {
  const db = openDatabase(folder);
  expect(db.prepare('PRAGMA integrity_check').pluck().get()).toBe('ok');
  expect(db.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
  db.close();
}

/** What was done. Throws where anything was done in part. */
async function done(folder: string): Promise<{ round: boolean; removed: boolean; aged: number }> {
  checkFile(folder);
  const store = inProcess(folder);
  const rounds = await store.loadHiddenRounds('t', [String(WHAT.visible)]);
  for (const { rows } of rounds) expect(rows).toEqual(ROWS);
  const isRemoved = !(await isThere(store, removed, trunk, 1000));
  const path = [...trunk.slice(0, 1000), ...branch];
  const { nodes, checkpoint: stood } = await store.loadPath(query(path));
  expect(nodes.map(({ hash }) => hash)).toEqual(path.map(({ hash }) => hash));
  const owner = isRemoved ? kept.id : removed.id;
  expect(new Set(nodes.slice(0, 1000).map((node) => node.conversation))).toEqual(new Set([owner]));
  expect(stood?.conversation).toBe(owner);
  let gone = 0;
  for (const [one, its] of agedPaths) if (!(await isThere(store, one, its, 0))) gone += 1;
  await store.close();
  return { round: rounds.length === 1, removed: isRemoved, aged: gone };
}

/** @param left how many of its nodes stay to others when it is gone. */
async function isThere(
  store: ConversationStore,
  owner: ConversationRecord,
  path: readonly NodeRecord[],
  left: number,
): Promise<boolean> {
  const details = await store.conversation(owner.id);
  const isKnown = details !== undefined;
  expect(await store.engineState(owner.id, 'k')).toBe(isKnown ? '1' : undefined);
  expect((await store.loadPath(query(path))).nodes).toHaveLength(isKnown ? path.length : left);
  if (isKnown) expect(details.checkpoints).toHaveLength(1);
  return isKnown;
}

test.each([
  ['a hidden round is written', 2],
  ['a conversation is deleted', 3],
  ['old conversations are deleted', 4],
  ['the store is closed', 5],
])('SIGKILL while %s leaves each of them whole or not there', { timeout: 120_000 }, async (_, killAt) => {
  const full = await filled();
  for (const microseconds of [0, 1000, 3000, 6000, 12_000, 24_000]) {
    const folder = freshFolder();
    cpSync(full, folder, { recursive: true });
    const { signal, lines, stderr } = await removingChild(folder, WHAT, [killAt, microseconds]);
    expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
    const there = await done(folder);
    if (lines.includes('round')) expect(there.round).toBe(true);
    expect(there.removed).toBe(lines.includes('removed') || (killAt === 3 && there.removed));
    // Four at a time.
    expect(lines.includes('aged') ? [6] : [0, 4, 6]).toContain(there.aged);
    // The next start ends it.
    expect((await removingChild(folder, WHAT)).lines.at(-1)).toBe('closed');
    expect(await done(folder)).toEqual({ round: true, removed: true, aged: 6 });
  }
});

test.each([1, 2, 3, 4, 5, 6])(
  'SIGKILL at place %i of a migration leaves the old version or the new one, with its data',
  { timeout: 60_000 },
  async (dieAt) => {
    const folder = await filled();
    const file = join(folder, FILE_NAME);
    expect(await migratingChild(file, dieAt)).toMatchObject({ signal: 'SIGKILL', stderr: '' });
    // All steps are one transaction.
    const isNew = dieAt === 6;
    if (!isNew) expect(await done(folder)).toEqual({ round: false, removed: false, aged: 0 });
    expect(await migratingChild(file, 0)).toMatchObject({ signal: null, stderr: '', lines: ['closed'] });
    const nodes = trunk.length + branch.length + [...agedPaths.values()].flat().length;
    expect(tables(file)).toEqual({ integrity: 'ok', version: 3, nodes, copied: nodes, moved: nodes });
  },
);

test('SIGKILL while the first schema is made leaves an empty file, and the next start makes it', async () => {
  const folder = freshFolder();
  mkdirSync(folder);
  expect(await migratingChild(join(folder, FILE_NAME), 7)).toMatchObject({ signal: 'SIGKILL', stderr: '' });
  checkFile(folder);
});

function tables(file: string) {
  const db = neverCollected(new Sqlite(file));
  const one = (sql: string) => db.prepare(sql).pluck().get();
  const found = {
    integrity: one('PRAGMA integrity_check'),
    version: one('PRAGMA user_version'),
    nodes: one('SELECT count(*) FROM node'),
    moved: one("SELECT count(*) FROM node WHERE content = 'moved'"),
    copied: one('SELECT count(title) FROM copy'),
  };
  db.close();
  return found;
}
