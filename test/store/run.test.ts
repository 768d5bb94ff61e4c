import { beforeEach, expect, test } from 'vitest';
import type { ConversationStore, NodeRecord } from '../../src/store/conversation-store.js';
import { chain, commitOf, conversation, inProcess } from './support/material.js';

const owner = conversation('a');
const path = chain(owner, ['m0', 'm1', 'm2', 'm3', 'm2', 'm3']);
const contents = (nodes: readonly NodeRecord[]) => nodes.map(({ content }) => content);
let store: ConversationStore;

beforeEach(async () => {
  store = inProcess();
  await store.commit(commitOf(owner, path));
});

test('finds the one place where messages follow each other', async () => {
  const run = path.slice(1, 4);
  expect(await store.findRun('t', contents(run))).toEqual({ nodes: run, conversation: owner });
  expect(await store.findRun('t', contents(path))).toEqual({ nodes: path, conversation: owner });
});

test('finds a run that two branches share once', async () => {
  const fork = conversation('fork');
  await store.commit(commitOf(fork, chain(fork, ['x'], path[3])));
  await store.commit(commitOf(fork, chain(fork, ['y'], path[3])));
  expect((await store.findRun('t', contents(path.slice(0, 3))))?.nodes).toEqual(path.slice(0, 3));
});

test.each([
  ['stand in two places of one conversation', ['m2', 'm3']],
  ['do not all follow each other', ['m0', 'm2']],
  ['follow each other in another order', ['m1', 'm0']],
  ['begin with one that is not known', ['new', 'm0', 'm1']],
  ['begin before the first one', ['m3', 'm0', 'm1']],
  ['are only one', ['m0']],
  ['are none', []],
])('finds none where the messages %s', async (_, messages) => {
  expect(await store.findRun('t', contents(chain(owner, messages)))).toBeUndefined();
});

test('finds none where the messages stand in two conversations', async () => {
  const other = conversation('other');
  await store.commit(commitOf(other, chain(other, ['else', 'm0', 'm1'])));
  expect(await store.findRun('t', contents(path.slice(0, 2)))).toBeUndefined();
  expect((await store.findRun('t', contents(path.slice(0, 3))))?.nodes).toEqual(path.slice(0, 3));
});
