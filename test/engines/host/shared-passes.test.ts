import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { type Script, scriptedEngine, summarise, type TestEngine } from '../../support/engine.js';
import {
  countingStub,
  dialogue,
  folder,
  goOn,
  hosted,
  LARGEST_THAT_FITS,
  lastSent,
  send,
  until,
} from '../../support/hosted.js';
import { postChat, type TestProxy, told } from '../../support/proxy.js';
import { CHAT } from '../../support/upstream-stub.js';

interface Gate {
  readonly script: Script;
  open(): void;
  /** The signals of the passes that wait at it. */
  readonly signals: AbortSignal[];
}

/** Passes wait here until it opens; those that are aborted go. */
function gate(then: Script = summarise): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const signals: AbortSignal[] = [];
  const script: Script = async (messages, options, engine) => {
    const { signal } = options as { signal: AbortSignal };
    signals.push(signal);
    await Promise.race([
      opened,
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    ]);
    return then(messages, options, engine);
  };
  return { script, open: () => open(), signals };
}

const body = (messages: readonly Message[]) => JSON.stringify({ model: 'm', messages, max_tokens: 1000 });

const post = async (proxy: TestProxy, messages: readonly Message[], signal?: AbortSignal) => {
  const response = await postChat(proxy.url, body(messages), {}, signal === undefined ? {} : { signal });
  await response.arrayBuffer();
  return told(response);
};

const begun = (engine: TestEngine, passes: number) => until(() => engine.passes.length === passes);

test('eight equal requests at once share one pass, and go upstream as equal bytes', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(4, 3000);
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(proxy, messages)));
  expect(engine.passes).toHaveLength(1);
  expect(engine.instances).toHaveLength(1);
  expect(new Set(answers.map(({ conversation }) => conversation)).size).toBe(1);
  expect(new Set(stub.at(CHAT).map((one) => one.body.toString())).size).toBe(1);
  expect(lastSent(stub).messages).toHaveLength(3);
});

test('eight equal requests share one pass on a conversation that the store knows', async () => {
  const stub = await countingStub();
  const data = folder();
  const messages = dialogue(4, LARGEST_THAT_FITS);
  const before = await hosted({ stub, engine: scriptedEngine(), data });
  await send(before, stub, messages);
  await before.close();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine, data });
  const longer = goOn(messages);
  await Promise.all(Array.from({ length: 8 }, () => post(proxy, longer)));
  expect(engine.passes).toHaveLength(1);
  expect(
    new Set(
      stub
        .at(CHAT)
        .slice(1)
        .map((one) => one.body.toString()),
    ).size,
  ).toBe(1);
});

test('the one who began a pass may go: the others get it', async () => {
  const stub = await countingStub();
  const wait = gate();
  const engine = scriptedEngine(wait.script);
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(4, 3000);
  const owner = new AbortController();
  const first = post(proxy, messages, owner.signal);
  await begun(engine, 1);
  const second = post(proxy, messages);
  await until(() => stub.at('/tokenize').length >= 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  owner.abort();
  await expect(first).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(wait.signals[0]?.aborted).toBe(false);
  wait.open();
  expect(await second).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(engine.passes).toHaveLength(1);
  expect(stub.at(CHAT)).toHaveLength(1);
});

test('a pass ends when everybody who waits for it has gone, and the next request begins its own', async () => {
  const stub = await countingStub();
  const wait = gate();
  const engine = scriptedEngine(wait.script);
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(4, 3000);
  const gone = new AbortController();
  const both = [post(proxy, messages, gone.signal), post(proxy, messages, gone.signal)];
  await begun(engine, 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  gone.abort();
  await Promise.allSettled(both);
  await until(() => wait.signals[0]?.aborted === true);
  wait.open();
  expect(await post(proxy, messages)).toMatchObject({ reason: 'compression_due' });
  expect(engine.passes).toHaveLength(2);
  expect(engine.instances).toHaveLength(1);
});

test('an engine that goes on after everybody went is replaced, and cannot write into the next pass', async () => {
  const stub = await countingStub();
  let release = () => {};
  const late: unknown[] = [];
  const engine = scriptedEngine(async (messages, options, self) => {
    if (engine.passes.length > 1) return summarise(messages, options, self);
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    await self.services.store.set('key', 'late').catch((error: unknown) => late.push(error));
    return messages;
  });
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(4, 3000);
  const gone = new AbortController();
  const first = post(proxy, messages, gone.signal);
  await begun(engine, 1);
  gone.abort();
  await expect(first).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const next = post(proxy, messages);
  await begun(engine, 2);
  release();
  expect(await next).toMatchObject({ reason: 'compression_due' });
  expect(engine.instances).toHaveLength(2);
  await until(() => late.length === 1);
});

test('a longer request waits for the running pass, and goes on from its checkpoint', async () => {
  const stub = await countingStub();
  const wait = gate();
  const engine = scriptedEngine(wait.script);
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(4, 3000);
  const first = post(proxy, messages);
  await begun(engine, 1);
  const second = post(proxy, goOn(messages));
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(engine.passes).toHaveLength(1);
  wait.open();
  expect(await first).toMatchObject({ reason: 'compression_due' });
  expect(await second).toMatchObject({ action: 'compressed' });
  expect(engine.passes).toHaveLength(1);
});

test('conversations are compressed side by side', async () => {
  const stub = await countingStub();
  const wait = gate();
  const engine = scriptedEngine(wait.script);
  const proxy = await hosted({ stub, engine });
  const all = ['one', 'two', 'three'].map((name) => post(proxy, dialogue(4, 3000, name)));
  await begun(engine, 3);
  wait.open();
  for (const answer of await Promise.all(all)) expect(answer).toMatchObject({ reason: 'compression_due' });
  expect(new Set(engine.passes.map((pass) => pass.engine)).size).toBe(3);
});
