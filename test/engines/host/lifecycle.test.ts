import { beforeEach, expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import type { SessionStart } from '../../../src/engines/contract.js';
import { ScriptedEngine, scriptedEngine } from '../../support/engine.js';
import { countingStub, dialogue, folder, goOn, hosted, send, until } from '../../support/hosted.js';

/** What engines were told, in order. */
let events: unknown[][] = [];
let ended: { readonly id: string; readonly messages: Message[] }[] = [];

beforeEach(() => {
  events = [];
  ended = [];
});

class Told extends ScriptedEngine {
  override updateModel(model: string, contextLength: number): void {
    events.push(['model', model, contextLength, Object.fromEntries(this.modelThresholds)]);
    super.updateModel(model, contextLength);
  }
  override onSessionStart(id: string, start: SessionStart): void {
    events.push(['start', id, start]);
  }
  override onSessionEnd(id: string, messages: Message[]): void {
    events.push(['end', id]);
    ended.push({ id, messages });
  }
  override selectContext(): undefined {}
}

function kinds(): unknown[] {
  return events.map(([kind]) => kind);
}

const TALK = dialogue(2, 100);

/** W is asked of the engine that was registered: not what this is about. */
function forgetWindows(): void {
  events = [];
}

test('starts the session of a new conversation, its model and thresholds known', async () => {
  const stub = await countingStub();
  const compression = { model_thresholds: { m: 0.5 } };
  const proxy = await hosted({ engine: scriptedEngine(undefined, Told), stub, compression });
  forgetWindows();
  const { told } = await send(proxy, stub, TALK);
  const start = { model: 'm', contextLength: 4096, reason: 'new' };
  expect(events.slice(0, 2)).toEqual([
    ['model', 'm', 4096, { m: 0.5 }],
    ['start', told.conversation, start],
  ]);
  expect(told.window).toBe('2048');
});

test('tells the engine of another model, and of another context length, before it is asked anything', async () => {
  const models = [
    { id: 'm', max_model_len: 4096 },
    { id: 'n', max_model_len: 8192 },
  ];
  const stub = await countingStub({ models });
  const engine = scriptedEngine(undefined, Told);
  const proxy = await hosted({ engine, stub });
  await send(proxy, stub, TALK);
  await send(proxy, stub, goOn(TALK), { more: { model: 'n' } });
  await send(proxy, stub, goOn(goOn(TALK)), { more: { model: 'n' } });
  expect(engine.instances).toHaveLength(1);
  expect(engine.instances[0]?.models).toEqual(['m', 'n']);
  expect(engine.instances[0]?.thresholdTokens).toBe(6144);
});

test('says that a conversation is known from before a restart, and one without its head that it goes on', async () => {
  const stub = await countingStub();
  const data = folder();
  const engine = () => scriptedEngine(undefined, Told);
  const long = goOn(goOn(goOn(TALK, 'Why should that be so?'), 'What else is there to know?'), 'Go on.');
  const first = await hosted({ engine: engine(), stub, data });
  const { told } = await send(first, stub, long);
  await first.close();
  const second = await hosted({ engine: engine(), stub, data });
  await send(second, stub, goOn(long, 'More?'));
  await second.close();
  const third = await hosted({ engine: engine(), stub, data });
  await send(third, stub, [TALK[0] as Message, ...goOn(long, 'More?').slice(4)]);
  const starts = events.filter(([kind]) => kind === 'start');
  expect(starts.map(([, id, start]) => [id, (start as SessionStart).reason])).toEqual([
    [told.conversation, 'new'],
    [told.conversation, 'restored'],
    [told.conversation, 'continued'],
  ]);
});

test('ends a session when the conversation is idle, with its last messages', async () => {
  const stub = await countingStub();
  const proxy = await hosted({
    engine: scriptedEngine(undefined, Told),
    stub,
    file: { sessions: { idle: 0.2 } },
  });
  const { told } = await send(proxy, stub, TALK);
  await until(() => ended.length === 1);
  expect(ended[0]?.id).toBe(told.conversation);
  expect(ended[0]?.messages.map(({ role, content }) => ({ role, content }))).toEqual(TALK);
  await send(proxy, stub, goOn(TALK));
  expect(events.findLast(([kind]) => kind === 'start')).toMatchObject([
    'start',
    told.conversation,
    { reason: 'restored' },
  ]);
});

test('ends it all the same where somebody looks at the list of conversations meanwhile', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(undefined, Told);
  const proxy = await hosted({ engine, stub, file: { sessions: { idle: 0.3 } } });
  const { told } = await send(proxy, stub, TALK);
  const end = performance.now() + 900;
  while (ended.length === 0 && performance.now() < end) {
    await fetch(`${proxy.url}/incontext/conversations`);
    await fetch(`${proxy.url}/incontext/conversations/${told.conversation}`);
  }
  expect(ended).toHaveLength(1);
});

test('ends the session of the conversation that was longest unused when there are too many', async () => {
  const stub = await countingStub();
  const proxy = await hosted({
    engine: scriptedEngine(undefined, Told),
    stub,
    hostLimits: { mostLive: 2 },
  });
  const ids: (string | undefined)[] = [];
  for (const name of ['one', 'two', 'three']) {
    ids.push((await send(proxy, stub, dialogue(2, 100, name))).told.conversation);
  }
  await until(() => ended.length === 1);
  expect(ended[0]?.id).toBe(ids[0]);
});

test('ends a session when its conversation is deleted, and all at the shutdown', async () => {
  const stub = await countingStub();
  const proxy = await hosted({ engine: scriptedEngine(undefined, Told), stub });
  const one = (await send(proxy, stub, dialogue(2, 100, 'one'))).told.conversation;
  const two = (await send(proxy, stub, dialogue(2, 100, 'two'))).told.conversation;
  await fetch(`${proxy.url}/incontext/conversations/${one}`, { method: 'DELETE' });
  await until(() => ended.length === 1);
  await proxy.close();
  expect(ended.map(({ id }) => id)).toEqual([one, two]);
});

test('waits neither for a session that does not start nor for one that does not end', async () => {
  class Stuck extends Told {
    override onSessionStart(): Promise<void> {
      return new Promise(() => {});
    }
    override onSessionEnd(): Promise<void> {
      return new Promise(() => {});
    }
  }
  const stub = await countingStub();
  const proxy = await hosted({
    engine: scriptedEngine(undefined, Stuck),
    stub,
    hostLimits: { hookMs: 50, sessionEndMs: 50 },
  });
  expect((await send(proxy, stub, TALK)).status).toBe(200);
  await proxy.close();
  expect(proxy.logged.map(({ hook }) => hook).filter(Boolean)).toEqual(
    expect.arrayContaining(['onSessionStart', 'onSessionEnd']),
  );
});

test.each([
  ['the engine', {}, {}, '3072'],
  ['compression.threshold', { threshold: 0.5 }, {}, '2048'],
  ['compression.model_thresholds', { threshold: 0.5, model_thresholds: { m: 0.6 } }, {}, '2457'],
  ['models.<id>.threshold', { model_thresholds: { m: 0.6 } }, { models: { m: { threshold: 0.9 } } }, '3686'],
])('takes W from %s', async (_from, compression, file, window) => {
  const stub = await countingStub();
  const proxy = await hosted({ engine: scriptedEngine(), stub, compression, file });
  expect((await send(proxy, stub, TALK)).told.window).toBe(window);
});

test('takes W from INCONTEXT_COMPRESSION_WINDOW_TOKENS whatever the engine says, never above the context', async () => {
  const stub = await countingStub();
  for (const [tokens, window] of [
    ['1500', '1500'],
    ['9000', '4096'],
  ] as const) {
    const env = { INCONTEXT_COMPRESSION_WINDOW_TOKENS: tokens };
    const proxy = await hosted({ engine: scriptedEngine(), stub, env, compression: { threshold: 0.9 } });
    expect((await send(proxy, stub, TALK)).told.window).toBe(window);
  }
});

test('leaves an engine the threshold that it has of its own', async () => {
  class Careful extends ScriptedEngine {
    override threshold = 0.25;
  }
  const stub = await countingStub();
  const engine = scriptedEngine(undefined, Careful);
  const proxy = await hosted({ engine, stub, compression: { threshold: 0.9 } });
  expect((await send(proxy, stub, TALK)).told.window).toBe('1024');
});

test('works W out itself where updateModel throws or gives no window', async () => {
  class Broken extends ScriptedEngine {
    override updateModel(): void {
      throw new Error('secret');
    }
  }
  class Windowless extends ScriptedEngine {
    override updateModel(): void {
      this.thresholdTokens = Number.NaN;
    }
  }
  for (const of of [Broken, Windowless]) {
    const stub = await countingStub();
    const proxy = await hosted({ engine: scriptedEngine(undefined, of), stub });
    expect((await send(proxy, stub, TALK)).told).toMatchObject({ window: '3072', reason: 'fits' });
    expect(proxy.logged).toContainEqual(expect.objectContaining({ hook: 'updateModel' }));
  }
});

test('the order of a life: model, start, answers, end', async () => {
  const stub = await countingStub();
  const proxy = await hosted({ engine: scriptedEngine(undefined, Told), stub });
  forgetWindows();
  await send(proxy, stub, TALK);
  await proxy.close();
  expect(kinds().filter((kind, i, all) => kind !== all[i - 1])).toEqual(['model', 'start', 'model', 'end']);
});
