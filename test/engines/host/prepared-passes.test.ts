import { expect, test } from 'vitest';
import { scriptedEngine, summarise } from '../../support/engine.js';
import {
  countingStub,
  dialogue,
  goOn,
  hosted,
  LARGEST_THAT_FITS,
  messagesText,
  send,
  until,
} from '../../support/hosted.js';
import { big, EARLY, grown, prepared, preparing, quiet, SOFT, sendNear } from './support/early.js';

test('past the soft threshold the next pass is made after the answer, and used when it is due', async () => {
  const engine = scriptedEngine();
  const { stub, proxy } = await preparing(engine);
  let messages = dialogue(4, SOFT - 1);
  await send(proxy, stub, messages);
  await quiet();
  expect(engine.passes).toHaveLength(0);
  messages = goOn(messages);
  const near = await send(proxy, stub, messages);
  expect(near.messages).toEqual(messages);
  await until(() => engine.passes.length === 1);
  await quiet();
  messages = grown(messages);
  const due = await send(proxy, stub, messages);
  expect(due.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(due.messages[1]?.content).toBe('summary of 8 messages');
  expect(due.messages.slice(2)).toEqual(messages.slice(-5));
  expect(engine.passes).toHaveLength(1);
  const next = await send(proxy, stub, goOn(messages));
  expect(messagesText(next.body).startsWith(messagesText(due.body))).toBe(true);
});

test('a promoted pass is stored, with what the engine wrote in it', async () => {
  const read: unknown[] = [];
  const engine = scriptedEngine(async (messages, options, self) => {
    read.push(await self.services.store.get('key'));
    await self.services.store.set('key', engine.passes.length);
    return summarise(messages, options, self);
  });
  const { stub, proxy, messages } = await prepared(engine);
  const due = grown(messages);
  expect((await send(proxy, stub, due)).told.reason).toBe('compression_due');
  const again = goOn(due, 'x'.repeat(9000));
  expect((await send(proxy, stub, again)).told.reason).toBe('compression_due');
  expect(read.slice(0, 2)).toEqual([undefined, 1]);
});

test('one that was made for a history that went elsewhere is dropped', async () => {
  const engine = scriptedEngine();
  const { stub, proxy, messages } = await prepared(engine);
  const edited = [...messages.slice(0, 2), { role: 'assistant', content: 'other' }, ...messages.slice(3)];
  const due = await send(proxy, stub, goOn(edited, big.repeat(2)));
  expect(due.told.reason).toBe('compression_due');
  expect(engine.passes).toHaveLength(2);
  expect(engine.passes[1]?.messages.map(({ content }) => content)).toContain('other');
});

test('a due request waits for the pass that is being made, instead of making another', async () => {
  let release = () => {};
  const engine = scriptedEngine(async (messages, options, self) => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return summarise(messages, options, self);
  });
  const { stub, proxy, messages } = await prepared(engine);
  const due = send(proxy, stub, goOn(messages, big.repeat(2)));
  await quiet();
  release();
  expect((await due).told.reason).toBe('compression_due');
  expect(engine.passes).toHaveLength(1);
});

test('a due request whose history went elsewhere does not wait for it', async () => {
  const engine = scriptedEngine((messages, options, self) =>
    engine.passes.length === 1 ? new Promise(() => {}) : summarise(messages, options, self),
  );
  const { stub, proxy, messages } = await prepared(engine);
  const edited = [...messages.slice(0, 2), { role: 'assistant', content: 'other' }, ...messages.slice(3)];
  const due = await send(proxy, stub, goOn(edited, big.repeat(2)));
  expect(due.told.reason).toBe('compression_due');
  expect(engine.passes[0]?.options.signal?.aborted).toBe(true);
});

test('makes one at a time in the process', async () => {
  const releases: (() => void)[] = [];
  const engine = scriptedEngine(async (messages, options, self) => {
    await new Promise<void>((resolve) => releases.push(resolve));
    return summarise(messages, options, self);
  });
  const { stub, proxy } = await preparing(engine);
  for (const name of ['one', 'two', 'three']) await sendNear(proxy, stub, name);
  for (const count of [1, 2, 3]) {
    await until(() => releases.length === count);
    await quiet();
    expect(engine.passes).toHaveLength(count);
    releases[count - 1]?.();
  }
});

test('prepare: 0 switches it off', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine, compression: { prepare: 0 } });
  await send(proxy, stub, dialogue(4, LARGEST_THAT_FITS));
  await quiet();
  expect(engine.passes).toHaveLength(0);
});

test('none is made for an estimate where an estimate may not compress, nor after an answer that failed', async () => {
  const down = {
    'POST /tokenize': (_: unknown, response: { writeHead(s: number): { end(): void } }) =>
      void response.writeHead(503).end(),
  };
  const stub = await countingStub({ routes: down });
  const engine = scriptedEngine();
  const flags = { 'context-length': '4096' };
  const proxy = await hosted({ stub, engine, flags, compression: { ...EARLY, compress_on_estimate: false } });
  await send(proxy, stub, dialogue(40, LARGEST_THAT_FITS));
  await quiet();
  expect(engine.passes).toHaveLength(0);
  stub.set({ routes: { 'POST /v1/chat/completions': (_, response) => void response.writeHead(500).end() } });
  await send(proxy, stub, dialogue(4, LARGEST_THAT_FITS, 'fails'));
  await quiet();
  expect(engine.passes).toHaveLength(0);
});

test('a pass in the background ends with the proxy, which does not wait for it', async () => {
  const engine = scriptedEngine(() => new Promise(() => {}));
  const { proxy } = await prepared(engine);
  const at = performance.now();
  await proxy.close();
  expect(performance.now() - at).toBeLessThan(1000);
  expect(engine.passes[0]?.options.signal?.aborted).toBe(true);
});
