import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { countedStore, type StoreMethod } from '../../support/counted-store.js';
import { scriptedEngine, summarise } from '../../support/engine.js';
import {
  countingStub,
  dialogue,
  folder,
  goOn,
  hosted,
  LARGEST_THAT_FITS,
  messagesText,
  send,
} from '../../support/hosted.js';
import { startProxy } from '../../support/proxy.js';
import { CHAT } from '../../support/upstream-stub.js';

const METHODS: readonly StoreMethod[] = [
  'loadPath',
  'findRun',
  'hasCheckpoints',
  'commit',
  'engineState',
  'conversation',
];

test('short requests of a tenant without checkpoints do not touch the store, but for one question', async () => {
  const stub = await countingStub();
  const counted = await countedStore(folder());
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine, store: counted.store, compression: { prepare: 0.8 } });
  for (const name of ['one', 'two', 'three']) {
    const sent = await send(proxy, stub, dialogue(3, 2000, name));
    expect(sent.told.conversation).toBeUndefined();
  }
  expect(counted.calls).toEqual(['hasCheckpoints']);
  expect(engine.instances).toHaveLength(0);
  await send(proxy, stub, dialogue(3, 2500, 'longer'));
  await expect.poll(() => counted.calls).toContain('commit');
});

test('engine none opens no store', async () => {
  const stub = await countingStub();
  const data = folder();
  const proxy = await startProxy({ upstream: stub.url, data });
  await send(proxy, stub, dialogue(3, 3900));
  await proxy.close();
  expect(existsSync(data) ? readdirSync(data) : []).toEqual([]);
});

test('the checkpoint is in the store before its bytes go upstream', async () => {
  const stub = await countingStub();
  const counted = await countedStore(folder());
  const proxy = await hosted({ stub, engine: scriptedEngine(), store: counted.store });
  const sentAtCommit: number[] = [];
  counted.before = async (method) => {
    if (method !== 'commit') return;
    await new Promise((resolve) => setTimeout(resolve, 50));
    sentAtCommit.push(stub.at(CHAT).length);
  };
  const messages = dialogue(3, 3000);
  await send(proxy, stub, messages);
  expect(sentAtCommit[0]).toBe(0);
});

test('a request that comes while a checkpoint is written does not send it before', async () => {
  const stub = await countingStub();
  const counted = await countedStore(folder());
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine, store: counted.store });
  const messages = dialogue(3, LARGEST_THAT_FITS);
  await send(proxy, stub, messages);
  let release = () => {};
  const written = new Promise<void>((resolve) => {
    release = resolve;
  });
  counted.before = (method) => (method === 'commit' ? written : undefined);
  const due = send(proxy, stub, messages, { more: { max_tokens: 300, n: 1, min_tokens: 300 } });
  await expect.poll(() => engine.passes.length).toBe(1);
  const meanwhile = await send(proxy, stub, messages, { more: { max_tokens: 100 } });
  expect(meanwhile.messages).toEqual(messages);
  release();
  expect((await due).told.reason).toBe('compression_due');
});

test.each(METHODS)('a request does not fail where the store fails at %s', async (method) => {
  const stub = await countingStub();
  const counted = await countedStore(folder());
  const engine = scriptedEngine(async (messages, options, self) => {
    await self.services.store.get('key').catch(() => undefined);
    return summarise(messages, options, self);
  });
  const proxy = await hosted({ stub, engine, store: counted.store });
  counted.failing = new Set([method]);
  const messages = dialogue(3, 3000);
  const first = await send(proxy, stub, messages);
  expect(first.told.reason).toBe('compression_due');
  const next = await send(proxy, stub, goOn(messages));
  expect(next.told.reason).toBe('checkpoint_reused');
  expect(messagesText(next.body).startsWith(messagesText(first.body))).toBe(true);
});

test('after a restart even a short request of a tenant with checkpoints gets its own, once the store can tell', async () => {
  const stub = await countingStub();
  const data = folder();
  const before = await hosted({ stub, engine: scriptedEngine(), data });
  const messages = dialogue(3, 3000);
  const first = await send(before, stub, messages);
  await before.close();
  stub.set({ window: 16_384 });
  const counted = await countedStore(data);
  counted.failing = new Set(['hasCheckpoints']);
  const proxy = await hosted({ stub, engine: scriptedEngine(), store: counted.store });
  expect((await send(proxy, stub, goOn(messages))).messages).toEqual(goOn(messages));
  counted.failing = new Set();
  const next = await send(proxy, stub, goOn(messages));
  expect(next.told.reason).toBe('checkpoint_reused');
  expect(messagesText(next.body).startsWith(messagesText(first.body))).toBe(true);
});

test('a request does not fail where the whole store fails, and the conversation stays compressed', async () => {
  const stub = await countingStub();
  const counted = await countedStore(folder());
  const proxy = await hosted({ stub, engine: scriptedEngine(), store: counted.store });
  counted.failing = new Set(METHODS);
  const messages = dialogue(3, 3000);
  const first = await send(proxy, stub, messages);
  const next = await send(proxy, stub, goOn(messages));
  expect(messagesText(next.body).startsWith(messagesText(first.body))).toBe(true);
  expect(proxy.logged.filter(({ msg }) => msg === 'the store of conversations failed')).toHaveLength(1);
});

test('where the thread of the store ends requests go on, it is started again, and nothing is lost', async () => {
  const stub = await countingStub();
  const data = folder();
  const threads: Worker[] = [];
  const onWorker = (worker: unknown) => threads.push(worker as Worker);
  process.on('worker', onWorker);
  onTestFinished(() => void process.off('worker', onWorker));
  const before = await hosted({ stub, engine: scriptedEngine(), data });
  const messages = dialogue(3, 3000);
  await send(before, stub, goOn(messages));
  await threads[0]?.terminate();
  const first = await send(before, stub, dialogue(3, 3000, 'other'));
  expect(first.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(before.logged).toContainEqual(
    expect.objectContaining({ msg: 'the thread of the store was started again', code: 'store_restarted' }),
  );
  await before.close();
  const proxy = await hosted({ stub, engine: scriptedEngine(), data });
  for (const name of ['talk', 'other']) {
    const next = await send(proxy, stub, goOn(goOn(dialogue(3, 3000, name))));
    expect(next.told.reason).toBe('checkpoint_reused');
  }
});

test.each([
  [0o700, []],
  [0o755, []],
  [0o770, ['data_folder_open']],
  [0o707, ['data_folder_open']],
])(
  'a data folder of mode %o keeps it; where others may write to it the log says so once',
  async (mode, codes) => {
    const data = folder();
    chmodSync(data, mode);
    const proxy = await hosted({ stub: await countingStub(), engine: scriptedEngine(), data });
    expect(proxy.logged.flatMap(({ code }) => code ?? [])).toEqual(codes);
    expect(statSync(data).mode & 0o777).toBe(mode);
  },
);

test('what the store did not take is written when it is back', async () => {
  const stub = await countingStub();
  const data = folder();
  const counted = await countedStore(data);
  const engine = scriptedEngine(async (messages, options, self) => {
    await self.services.store.set('key', 'value');
    return summarise(messages, options, self);
  });
  const proxy = await hosted({ stub, engine, store: counted.store, data });
  counted.failing = new Set(['commit']);
  let messages = dialogue(3, 3000);
  const first = await send(proxy, stub, messages);
  messages = goOn(messages);
  await send(proxy, stub, messages);
  counted.failing = new Set();
  messages = goOn(messages);
  await send(proxy, stub, messages);
  await proxy.close();
  const found: unknown[] = [];
  const again = scriptedEngine(async (all, options, self) => {
    found.push(await self.services.store.get('key'));
    return summarise(all, options, self);
  });
  const restarted = await hosted({ stub, engine: again, data });
  messages = goOn(messages);
  const next = await send(restarted, stub, messages);
  expect(next.told).toMatchObject({ reason: 'checkpoint_reused', conversation: first.told.conversation });
  expect(messagesText(next.body).startsWith(messagesText(first.body))).toBe(true);
  await send(restarted, stub, goOn(messages, 'x'.repeat(11_400)));
  expect(found[0]).toBe('value');
});

test('what an engine writes in a pass is there after it, and gone where the pass failed', async () => {
  const stub = await countingStub();
  const data = folder();
  const found: unknown[] = [];
  const engine = scriptedEngine(async (messages, _options, self) => {
    const { store } = self.services;
    found.push([await store.get('pass'), await store.get('only')]);
    await store.set('pass', { n: engine.passes.length });
    if (engine.passes.length === 2) {
      await store.set('only', 'in the pass that failed');
      return [];
    }
    return messages.map((one, i) => (i === 1 ? { ...one, content: String(one.content).slice(800) } : one));
  });
  const proxy = await hosted({ stub, engine, data });
  const messages = dialogue(3, 3000);
  await send(proxy, stub, messages);
  await proxy.close();
  const again = scriptedEngine(async (all, options, self) => {
    const { store } = self.services;
    found.push([await store.get('pass'), await store.get('only')]);
    return summarise(all, options, self);
  });
  const restarted = await hosted({ stub, engine: again, data });
  await send(restarted, stub, goOn(messages, 'x'.repeat(4000)));
  expect(found).toEqual([
    [undefined, undefined],
    [{ n: 1 }, undefined],
    [{ n: 1 }, undefined],
  ]);
});

test('a conversation that is deleted while its request is under way stays deleted', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  let messages = dialogue(3, 3000);
  const { told } = await send(proxy, stub, messages);
  const url = `${proxy.url}/incontext/conversations/${told.conversation}`;
  messages = goOn(messages, 'x'.repeat(11_400));
  engine.script = async (all, options, self) => {
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(204);
    return summarise(all, options, self);
  };
  expect((await send(proxy, stub, messages)).status).toBe(200);
  expect((await fetch(url)).status).toBe(404);
});

test('a branch whose pass runs while the conversation it branches off is deleted is stored as a whole', async () => {
  const stub = await countingStub();
  const data = folder();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine, data });
  const base = dialogue(3, 3000);
  const { told } = await send(proxy, stub, base);
  const url = `${proxy.url}/incontext/conversations`;
  await (await fetch(url)).text();
  engine.script = async (all, options, self) => {
    expect((await fetch(`${url}/${told.conversation}`, { method: 'DELETE' })).status).toBe(204);
    return summarise(all, options, self);
  };
  const other = { role: 'user', content: 'x'.repeat(11_400) };
  const branch = goOn([...base.slice(0, -1), other]);
  const due = await send(proxy, stub, branch);
  expect(due.told.reason).toBe('compression_due');
  expect(due.told.conversation).not.toBe(told.conversation);
  const kept = await (await fetch(`${url}/${due.told.conversation}`)).json();
  expect(kept).toMatchObject({ checkpoints: [{}] });
  expect(proxy.logged.filter(({ msg }) => msg === 'the store of conversations failed')).toEqual([]);
});
