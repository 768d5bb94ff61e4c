import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { FILE_NAME } from '../../../src/store/open-database.js';
import { scriptedEngine } from '../../support/engine.js';
import { countingStub, dialogue, folder, goOn, hosted, messagesText, send } from '../../support/hosted.js';
import { postChat } from '../../support/proxy.js';

const CHILD = resolve(import.meta.dirname, 'support/lock-child.mjs');

/** Another process that writes to the store until it is told to end. Resolves when it has the lock. */
async function lock(data: string) {
  const child = spawn(process.execPath, [CHILD, join(data, FILE_NAME)]);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return {
    async release() {
      child.stdin.end();
      await once(child, 'close');
    },
  };
}

test('while another process holds the lock of the store conversations go on, and the event loop turns', async () => {
  const stub = await countingStub();
  const data = folder();
  const proxy = await hosted({ stub, engine: scriptedEngine(), data });
  let messages = dialogue(3, 3000);
  const first = await send(proxy, stub, messages);
  const { release } = await lock(data);
  for (let turn = 0; turn < 5; turn += 1) {
    messages = goOn(messages);
    const next = await send(proxy, stub, messages);
    expect(next.told.reason).toBe('checkpoint_reused');
    expect(messagesText(next.body).startsWith(messagesText(first.body))).toBe(true);
  }
  // Those that are not known, or whose checkpoint is to be written, wait in the store's own thread.
  const bodies = [...Array(5).keys()].map((at) => dialogue(3, at === 0 ? 3000 : 500, `other ${at}`));
  const others = bodies.map((body) => postChat(proxy.url, JSON.stringify({ messages: body, model: 'm' })));
  let turns = 0;
  const turning = setInterval(() => {
    turns += 1;
  }, 5);
  onTestFinished(() => clearInterval(turning));
  await sleep(1000);
  // As often as that even on a busy machine; not once where the loop waits for the lock.
  expect(turns).toBeGreaterThan(20);
  messages = goOn(messages);
  expect((await send(proxy, stub, messages)).told.reason).toBe('checkpoint_reused');
  await release();
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});
