import { expect, test } from 'vitest';
import { scriptedEngine, summarise } from '../../support/engine.js';
import { countingStub, dialogue, goOn, hosted, send, until } from '../../support/hosted.js';

const SHORT = { context_timeout_seconds: 0.4 };
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('a pass that never settles is thrown away at the deadline', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(() => new Promise(() => {}));
  const proxy = await hosted({ stub, engine, compression: SHORT });
  const messages = dialogue(3, 3900);
  const at = performance.now();
  const sent = await send(proxy, stub, messages);
  expect(performance.now() - at).toBeLessThan(1500);
  expect(sent.told).toMatchObject({ action: 'unchanged', reason: 'compression_timeout' });
  expect(sent.messages).toEqual(messages);
  expect(engine.passes[0]?.options.signal?.aborted).toBe(true);
});

test('a late result and what comes with it are lost, and a fresh engine takes over', async () => {
  const stub = await countingStub();
  const late: unknown[] = [];
  const found: unknown[] = [];
  const engine = scriptedEngine(async (messages, options, self) => {
    const { store } = self.services;
    found.push(await store.get('early'));
    if (engine.passes.length > 1) return summarise(messages, options, self);
    await store.set('early', 1);
    await later(700);
    await store.set('late', 1).catch((error: unknown) => late.push(error));
    return summarise(messages, options, self);
  });
  const proxy = await hosted({ stub, engine, compression: SHORT });
  const messages = dialogue(3, 3000);
  const sent = await send(proxy, stub, messages);
  expect(sent.messages).toEqual(messages);
  await until(() => late.length === 1);
  expect(late[0]).toBeInstanceOf(TypeError);
  const longer = goOn(messages, 'x'.repeat(4200));
  expect((await send(proxy, stub, longer)).told.reason).toBe('compression_due');
  expect(engine.passes.map((pass) => engine.instances.indexOf(pass.engine))).toEqual([0, 1]);
  expect(found).toEqual([undefined, undefined]);
});

test('the deadline is for all passes of a request together, and what they gained until then is kept', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(async (messages) => {
    await later(250);
    return messages.map((one, i) => (i === 1 ? { ...one, content: String(one.content).slice(400) } : one));
  });
  const proxy = await hosted({ stub, engine, compression: SHORT });
  const at = performance.now();
  const sent = await send(proxy, stub, dialogue(3, 2900));
  expect(performance.now() - at).toBeLessThan(1200);
  expect(engine.passes).toHaveLength(2);
  expect(sent.told).toMatchObject({ action: 'compressed', 'prompt-tokens': '2800' });
});

test('an engine that never yields is late all the same', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages, options, self) => {
    const end = performance.now() + 600;
    while (performance.now() < end);
    return summarise(messages, options, self);
  });
  const proxy = await hosted({ stub, engine, compression: SHORT });
  const messages = dialogue(3, 3900);
  const sent = await send(proxy, stub, messages);
  expect(sent.told).toMatchObject({ action: 'unchanged', reason: 'compression_timeout' });
  expect(sent.messages).toEqual(messages);
});

test('with 0 there is no deadline', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(async (messages, options, self) => {
    expect(self.services.remainingMs()).toBe(Number.POSITIVE_INFINITY);
    await later(1200);
    return summarise(messages, options, self);
  });
  const proxy = await hosted({ stub, engine, compression: { context_timeout_seconds: 0 } });
  expect((await send(proxy, stub, dialogue(3, 3000))).told.reason).toBe('compression_due');
});

test('a request that waits for another one’s pass waits no longer than for its own', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(() => new Promise(() => {}));
  const proxy = await hosted({ stub, engine, compression: { context_timeout_seconds: 0.6 } });
  const messages = dialogue(3, 3900);
  const at = performance.now();
  const first = send(proxy, stub, messages);
  await until(() => engine.passes.length === 1);
  await later(300);
  const second = await send(proxy, stub, goOn(messages));
  await first;
  expect(second.told.reason).toBe('compression_timeout');
  expect(performance.now() - at).toBeLessThan(1400);
});
