import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/store/open-database.js';
import { committingChild } from './support/child.js';
import { freshFolder, inProcess, MODEL, query } from './support/material.js';

const NODES = 60;
const COMMITS = 4;
/** The opening, the secret, the commits, the close. */
const MESSAGES = COMMITS + 3;

const hash = (...parts: readonly unknown[]) =>
  createHash('sha256').update(parts.join(' ')).digest('base64url');
const pathOf = (name: string) =>
  query([], { hashes: Array.from({ length: COMMITS * NODES }, (_, depth) => hash(name, depth)) });

/** How many exchanges of a child are in the store. Throws where one is there in part. */
async function exchangesOf(folder: string, name: string): Promise<number> {
  const db = openDatabase(folder);
  expect(db.prepare('PRAGMA integrity_check').pluck().get()).toBe('ok');
  expect(db.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
  db.close();
  const store = inProcess(folder);
  const { nodes, checkpoint, conversation } = await store.loadPath(pathOf(name));
  const done = conversation?.messages ?? 0;
  expect(nodes).toHaveLength(done * NODES);
  if (done > 0) {
    expect(checkpoint?.end).toBe(nodes.at(-1)?.hash);
    expect(checkpoint?.model).toBe(MODEL);
    expect(checkpoint?.rows.map(({ mark }) => mark)).toEqual(Array(50).fill(String(done - 1)));
    expect(checkpoint?.rows.every(({ bytes }) => bytes.equals(Buffer.alloc(2000, 'r')))).toBe(true);
    expect(await store.engineState(conversation?.id ?? '', 'exchange')).toBe(String(done - 1));
  }
  await store.close();
  return done;
}

test.each(Array.from({ length: MESSAGES }, (_, at) => at + 1))(
  'SIGKILL at message %i to the store leaves every commit whole or not there, and all that were confirmed',
  async (killAt) => {
    for (const microseconds of [0, 300, 1000, 2000, 4000, 8000]) {
      const folder = freshFolder();
      const { signal, lines, stderr } = await committingChild(folder, 'a', COMMITS, [killAt, microseconds]);
      expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' });
      const confirmed = lines.filter((line) => line.startsWith('committed')).length;
      const there = await exchangesOf(folder, 'a');
      expect([confirmed, confirmed + 1]).toContain(there);
      // The next start goes on from there.
      expect((await committingChild(folder, 'a', COMMITS)).lines.at(-1)).toBe('closed');
      expect(await exchangesOf(folder, 'a')).toBe(COMMITS);
    }
  },
  120_000,
);

test('processes that open the same new folder at once lose nothing, and share its secret', async () => {
  const folder = freshFolder();
  const names = ['a', 'b', 'c'];
  const ended = await Promise.all(names.map((name) => committingChild(folder, name, COMMITS)));
  expect(ended.map(({ stderr }) => stderr)).toEqual(['', '', '']);
  expect(ended.map(({ lines }) => lines.at(-1))).toEqual(['closed', 'closed', 'closed']);
  expect(new Set(ended.map(({ lines }) => lines[0])).size).toBe(1);
  for (const name of names) expect(await exchangesOf(folder, name)).toBe(COMMITS);
}, 60_000);
