import { expect, test } from 'vitest';
import { cloneEngine } from '../../src/engines/clone-engine.js';
import { ContextEngine, type EngineContext } from '../../src/engines/contract.js';
import type { EngineSource } from '../../src/engines/engine-shape.js';
import type { RegisteredEngine } from '../../src/engines/registration.js';
import { createEngineRegistry } from '../../src/engines/registry.js';
import { engineContextOf } from './support/plugin-folder.js';

class Plain extends ContextEngine {
  override readonly name: string = 'mine';
  seen: string[] = [];
  state = { turns: 0, byId: new Map([['a', [1]]]) };
  connection = new (class Connection {
    send() {}
  })();
  handlers = { ask: () => 'answer' };
  constructor(readonly context?: EngineContext) {
    super();
  }
  override compress() {
    return [];
  }
}

function registered(source: EngineSource): Promise<RegisteredEngine> {
  const registry = createEngineRegistry();
  registry.register(source, 'mine', 'the test');
  return registry.choose('mine', engineContextOf());
}

test.each([
  ['a class', Plain],
  ['a factory', (context: EngineContext) => new Plain(context)],
  ['an asynchronous factory', async (context: EngineContext) => new Plain(context)],
] as const)('%s is called again, with the context of the conversation', async (_what, source) => {
  const engine = await registered(source);
  const context = engineContextOf({ keep: 3 });
  const clone = await cloneEngine(engine, context);
  expect(engine.instance).toBeUndefined();
  expect(clone).not.toBe(engine.prototype);
  expect(clone).toMatchObject({ name: 'mine', context });
});

test('an instance is copied field by field; what has methods is shared', async () => {
  const instance = new Plain();
  const engine = await registered(instance);
  expect(engine.instance).toBe(instance);
  const clone = (await cloneEngine(engine, engineContextOf())) as Plain;
  expect(clone).toBeInstanceOf(Plain);
  expect(clone).not.toBe(instance);
  clone.seen.push('x');
  clone.state.turns = 5;
  clone.state.byId.get('a')?.push(2);
  clone.updateModel('m', 1000);
  expect(instance).toMatchObject({ seen: [], state: { turns: 0 }, thresholdTokens: 0 });
  expect(instance.state.byId.get('a')).toEqual([1]);
  expect(clone.connection).toBe(instance.connection);
  expect(clone.handlers).toBe(instance.handlers);
});

test('a copied object without a class has the members that were lent to it', async () => {
  const engine = await registered({ name: 'mine', compress: (messages) => messages });
  const clone = await cloneEngine(engine, engineContextOf());
  clone.updateFromResponse({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 });
  expect(clone.lastTotalTokens).toBe(3);
  expect(engine.prototype.lastTotalTokens).toBe(0);
});

test('data that is part of itself is copied, and accessors stay accessors', async () => {
  const ring: { self?: unknown } = {};
  ring.self = ring;
  const source = {
    name: 'mine',
    compress: () => [],
    ring,
    get double() {
      return 2;
    },
  };
  const clone = (await cloneEngine(await registered(source), engineContextOf())) as unknown as typeof source;
  expect(clone.ring).not.toBe(ring);
  expect(clone.ring.self).toBe(clone.ring);
  expect(clone.double).toBe(2);
});

test('an engine that clones itself is asked, with the context of the conversation', async () => {
  class Own extends Plain {
    opened = 0;
    override cloneForAgent(context: EngineContext) {
      const clone = new Own(context);
      clone.opened = this.opened + 1;
      return clone;
    }
  }
  const context = engineContextOf();
  for (const source of [Own, new Own()]) {
    expect(await cloneEngine(await registered(source), context)).toMatchObject({ opened: 1, context });
  }
});

const BAD_CLONES: readonly (readonly [string, (this: unknown) => unknown, string])[] = [
  [
    'throws',
    () => {
      throw new Error('locked');
    },
    'cannot be built: locked',
  ],
  ['gives nothing', () => undefined, 'is no context engine'],
  ['gives another engine', () => ({ name: 'other', compress() {} }), 'gives one named "other"'],
  [
    'gives the shared instance',
    function () {
      return this;
    },
    'gives the shared instance',
  ],
];

test.each(BAD_CLONES)('a clone that %s is an error', async (_what, cloneForAgent, message) => {
  const engine = await registered(Object.assign(new Plain(), { cloneForAgent: cloneForAgent as never }));
  await expect(cloneEngine(engine, engineContextOf())).rejects.toThrow(message);
});
