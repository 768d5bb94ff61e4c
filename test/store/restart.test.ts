import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { openConversationStore } from '../../src/store/open-conversation-store.js';
import { commitOf, conversation, freshFolder } from './support/material.js';

/** An open store, and the threads that it has started. */
async function opened(folder: string) {
  const threads: Worker[] = [];
  const onWorker = (worker: unknown) => threads.push(worker as Worker);
  process.on('worker', onWorker);
  onTestFinished(() => void process.off('worker', onWorker));
  let restarts = 0;
  const onRestart = () => {
    restarts += 1;
  };
  const store = await openConversationStore({ folder, onRestart });
  onTestFinished(() => store.close());
  return { store, threads, restarts: () => restarts };
}

test('where its thread ends what waits fails, and the next call finds all that was written', async () => {
  const { store, threads, restarts } = await opened(freshFolder());
  await store.commit(commitOf(conversation('a'), []));
  const secret = await store.secret('tenant');
  const ended = threads[0]?.terminate();
  const waiting = store.listConversations();
  await expect(waiting).rejects.toMatchObject({
    name: 'StoreError',
    message: 'the thread of the store ended',
  });
  await ended;
  const [listed, again] = await Promise.all([store.listConversations(), store.secret('tenant')]);
  expect(listed).toHaveLength(1);
  expect(again).toEqual(secret);
  await store.commit(commitOf(conversation('b'), []));
  expect(await store.listConversations()).toHaveLength(2);
  expect(restarts()).toBe(1);
  expect(threads).toHaveLength(2);
});

test('one that ends again at once is not started over and over', async () => {
  const { store, threads, restarts } = await opened(freshFolder());
  for (const nth of [0, 1]) {
    await store.listConversations();
    await threads[nth]?.terminate();
  }
  await expect(store.listConversations()).rejects.toThrow('the thread of the store ended');
  await expect(store.listConversations()).rejects.toThrow('the thread of the store ended');
  expect(restarts()).toBe(1);
  await store.close();
});

test('a store that was closed stays closed', async () => {
  const { store, threads, restarts } = await opened(freshFolder());
  await store.close();
  await expect(store.listConversations()).rejects.toThrow('the store is closed');
  expect(restarts()).toBe(0);
  expect(threads).toHaveLength(1);
});
