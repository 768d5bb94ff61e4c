import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { scriptedEngine } from '../../support/engine.js';
import { countingStub, dialogue, hosted, SYSTEM, send } from '../../support/hosted.js';

test('an engine may ask for many counts at once without a warning of a leak', async () => {
  const warnings: string[] = [];
  const listener = ({ name }: Error) => warnings.push(name);
  process.on('warning', listener);
  const stub = await countingStub();
  const engine = scriptedEngine(async (messages, _, { services }) => {
    await Promise.all(messages.map((_message, end) => services.countTokens(messages.slice(0, end + 1))));
    return [SYSTEM, { role: 'user', content: 'summary' }, messages.at(-1) as Message];
  });
  const proxy = await hosted({ stub, engine });
  expect((await send(proxy, stub, dialogue(12, 3000))).told.reason).toBe('compression_due');
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listener);
  expect(warnings).toEqual([]);
});
