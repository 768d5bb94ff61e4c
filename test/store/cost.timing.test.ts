import { randomBytes } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openConversationStore } from '../../src/store/open-conversation-store.js';
import { chain, checkpoint, commitOf, conversation, freshFolder, query, row } from './support/material.js';

const numbered = (count: number, name: string) => Array.from({ length: count }, (_, at) => `${name} ${at}`);

test('a path of 100 messages in a store of 100,000 is loaded in less than 0.6 ms, in the median', async () => {
  const store = await openConversationStore({ folder: freshFolder() });
  const owners = numbered(1000, 'owner').map((name) => conversation(name));
  const paths = owners.map((owner) => chain(owner, numbered(100, owner.id)));
  for (const owner of owners) await store.commit(commitOf(owner, []));
  const [first = conversation('none')] = owners;
  for (let at = 0; at < paths.length; at += 100) {
    await store.commit(commitOf(first, paths.slice(at, at + 100).flat()));
  }
  const times: number[] = [];
  for (let at = 0; at < 2000; at += 1) {
    const ask = query(paths[(at * 7) % paths.length] ?? []);
    const start = performance.now();
    const { nodes } = await store.loadPath(ask);
    times.push(performance.now() - start);
    expect(nodes).toHaveLength(100);
  }
  await store.close();
  const median = times.toSorted((a, b) => a - b)[times.length / 2] ?? 0;
  console.log(`loadPath p50 ${median.toFixed(3)} ms`);
  expect(median).toBeLessThan(0.6);
}, 120_000);

test('big commits hold the event loop up for less than 60 ms, in the 99th percentile', async () => {
  const store = await openConversationStore({ folder: freshFolder() });
  const rows = Array.from({ length: 200 }, () => row(randomBytes(10_000)));
  const commits = numbered(20, 'big').map((name) => {
    const owner = conversation(name);
    const nodes = chain(owner, numbered(1000, name));
    return commitOf(owner, nodes, { checkpoint: checkpoint(nodes[0], { rows }) });
  });
  await sleep(100);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  for (const commit of commits) await store.commit(commit);
  delay.disable();
  await store.close();
  console.log(
    `event loop p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, max ${(delay.max / 1e6).toFixed(1)} ms`,
  );
  expect(delay.percentile(99) / 1e6).toBeLessThan(60);
}, 120_000);
