import { expect, test } from 'vitest';
import { countedStore } from '../../support/counted-store.js';
import { scriptedEngine } from '../../support/engine.js';
import { countingStub, dialogue, folder, goOn, hosted, send } from '../../support/hosted.js';

test('the first request of a known conversation after a restart waits for the store once, the next ones never', async () => {
  const stub = await countingStub();
  const data = folder();
  const before = await hosted({ stub, engine: scriptedEngine(), data });
  const names = ['one', 'two', 'three'];
  for (const name of names) await send(before, stub, dialogue(3, 3000, name));
  await before.close();
  const counted = await countedStore(data);
  const proxy = await hosted({ stub, engine: scriptedEngine(), store: counted.store });
  // Writing down is not waited for.
  const asked = () => counted.calls.splice(0).filter((method) => method !== 'commit');
  // Whether the tenant has checkpoints is asked once, by its first request.
  const whole = [['hasCheckpoints', 'loadPath'], ['loadPath'], ['loadPath']];
  for (const [at, name] of names.entries()) {
    const messages = goOn(dialogue(3, 3000, name));
    expect((await send(proxy, stub, messages)).told.reason).toBe('checkpoint_reused');
    expect(asked()).toEqual(whole[at]);
    expect((await send(proxy, stub, messages)).told.reason).toBe('checkpoint_reused');
    expect((await send(proxy, stub, goOn(messages))).told.reason).toBe('checkpoint_reused');
    expect(asked()).toEqual([]);
  }
});
