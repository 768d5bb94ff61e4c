import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { HOST_LIMITS, type HostLimits } from '../../../src/engines/host/host-settings.js';
import { ScriptedEngine, scriptedEngine, summarise } from '../../support/engine.js';
import { countingStub, dialogue, goOn, hosted, send } from '../../support/hosted.js';

test('the pauses of an engine that failed are 30 s, of one that did not come back from a hook 60 s', () => {
  expect(HOST_LIMITS).toMatchObject({ failurePauseMs: 30_000, hookPauseMs: 60_000 });
});

/** A conversation over its window whose first pass fails; it goes on after that. */
async function failedOnce(hostLimits: Partial<HostLimits>, afterMs: number) {
  const engine = scriptedEngine(() => Promise.reject(new Error('secret')));
  const stub = await countingStub();
  const proxy = await hosted({ engine, stub, hostLimits });
  const messages = dialogue(4, 3000);
  expect((await send(proxy, stub, messages)).told.reason).toBe('clamped_to_context');
  engine.script = summarise;
  await sleep(afterMs);
  return { engine, next: await send(proxy, stub, goOn(messages)) };
}

test('after a pass that failed no other one is tried for a while', async () => {
  const { engine, next } = await failedOnce({}, 0);
  expect(next.told.reason).toBe('clamped_to_context');
  expect(engine.passes).toHaveLength(1);
});

test('when the pause is over the conversation is compressed', async () => {
  const { engine, next } = await failedOnce({ failurePauseMs: 50 }, 100);
  expect(next.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(engine.passes).toHaveLength(2);
});

/** A conversation whose engine does not come back from a selection; it goes on after that. */
async function hungOnce(hostLimits: Partial<HostLimits>, afterMs: number): Promise<number> {
  let asked = 0;
  class Hung extends ScriptedEngine {
    override selectContext(): Promise<undefined> {
      asked += 1;
      return new Promise(() => {});
    }
  }
  const stub = await countingStub();
  const proxy = await hosted({
    engine: scriptedEngine(undefined, Hung),
    stub,
    hostLimits: { hookMs: 50, ...hostLimits },
  });
  const messages = dialogue(3, 500);
  expect((await send(proxy, stub, messages)).status).toBe(200);
  await sleep(afterMs);
  expect((await send(proxy, stub, goOn(messages))).status).toBe(200);
  return asked;
}

test('an engine that did not come back from a hook is asked again only when its pause is over', async () => {
  expect(await hungOnce({}, 0)).toBe(1);
  expect(await hungOnce({ hookPauseMs: 50 }, 100)).toBe(2);
});
