import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { scriptedEngine } from '../../support/engine.js';
import { countingStub, dialogue, hosted, SYSTEM, send } from '../../support/hosted.js';

test('what an engine asks of its services and does not wait for may fail without ending the process', async () => {
  const unheard: unknown[] = [];
  const listener = (reason: unknown) => unheard.push(reason);
  process.on('unhandledRejection', listener);
  const stub = await countingStub();
  const circular: Record<string, unknown> = {};
  circular.self = circular;
  let isLate = false;
  const engine = scriptedEngine((messages, _, { services }) => {
    void services.store.set('circular', circular);
    setTimeout(() => {
      void services.store.set('late', 1);
      void services.complete([{ role: 'user', content: 'late' }], { maxTokens: 10 });
      isLate = true;
    }, 50);
    return [SYSTEM, { role: 'user', content: 'summary' }, messages.at(-1) as Message];
  });
  const proxy = await hosted({ stub, engine });
  expect((await send(proxy, stub, dialogue(3, 3000))).told.reason).toBe('compression_due');
  await expect.poll(() => isLate).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off('unhandledRejection', listener);
  expect(unheard).toEqual([]);
});
