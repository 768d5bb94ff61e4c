import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import type { CompressOptions } from '../../../src/engines/contract.js';
import { type EngineClass, ScriptedEngine, scriptedEngine, summarise } from '../../support/engine.js';
import { goOn, messagesText, send, until } from '../../support/hosted.js';
import type { TestProxy } from '../../support/proxy.js';
import { EARLY, grown, prepared, preparing, quiet, sendNear } from './support/early.js';

const FAILED = 'a hook of the context engine failed';

/** Of the summary and what stands behind it up to the last question, only the summary stays. */
function withoutSince(messages: Message[]): Message[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const [head, summary] = messages as [Message, Message];
  const longer = { role: 'user', content: `${String(summary.content)}, and ${last - 2} since` };
  return [head, longer, ...messages.slice(last)];
}

class CatchesUp extends ScriptedEngine {
  override catchUp(messages: Message[]): Message[] | undefined {
    return withoutSince(messages);
  }
}

class FailsToCatchUp extends ScriptedEngine {
  override catchUp(): never {
    throw new Error('lost');
  }
}

class LosesTheQuestion extends ScriptedEngine {
  override catchUp(messages: Message[]): Message[] {
    return messages.slice(0, 2);
  }
}

class NeedsNoTime extends ScriptedEngine {
  override isWorthPreparing(): boolean {
    return false;
  }
}

class NeverSays extends ScriptedEngine {
  override isWorthPreparing(): never {
    return new Promise(() => {}) as never;
  }
}

class FailsToSay extends ScriptedEngine {
  override isWorthPreparing(): never {
    throw new Error('lost');
  }
}

class Rejects extends ScriptedEngine {
  override isWorthPreparing(): never {
    return Promise.reject(new Error('lost')) as never;
  }
}

function warned({ logged }: TestProxy) {
  return logged
    .filter(({ level }) => level === 40)
    .map(({ msg, hook, type, reason }) => ({ msg, hook, type, reason }));
}

/** What was made early is due; then the conversation goes on. */
async function promoted(of: EngineClass, hostLimits = {}) {
  const engine = scriptedEngine(undefined, of);
  const { stub, proxy, messages: early } = await prepared(engine, { hostLimits });
  const messages = grown(early);
  const due = await send(proxy, stub, messages);
  expect(due.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(engine.passes).toHaveLength(1);
  const next = await send(proxy, stub, goOn(messages));
  return { engine, stub, proxy, messages, due, next, warned: warned(proxy) };
}

test('what came after a pass that was made early goes as well when it is due', async () => {
  const { messages, due, next } = await promoted(CatchesUp);
  expect(due.messages.slice(1)).toEqual([
    { role: 'user', content: 'summary of 6 messages, and 4 since' },
    messages.at(-1),
  ]);
  expect(messagesText(next.body).startsWith(messagesText(due.body))).toBe(true);
});

test.each([
  [FailsToCatchUp, 'Error'],
  [LosesTheQuestion, 'InvalidResultError'],
])('what was made early goes out where that fails, and the hook is named: %o', async (of, type) => {
  const { messages, due, next, warned } = await promoted(of);
  expect(warned).toEqual([{ msg: FAILED, hook: 'catchUp', type }]);
  expect(due.messages[1]?.content).toBe('summary of 6 messages');
  expect(due.messages.slice(2)).toEqual(messages.slice(-5));
  expect(messagesText(next.body).startsWith(messagesText(due.body))).toBe(true);
});

test('one that never comes back from it holds no request for long, is replaced, and writes no more', async () => {
  const late: unknown[] = [];
  class Hangs extends ScriptedEngine {
    override async catchUp(messages: Message[], { signal }: CompressOptions): Promise<Message[]> {
      await this.services.store.set('key', 'before');
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      await quiet();
      await this.services.store.set('key', 'late').catch((error: unknown) => late.push(error));
      return withoutSince(messages);
    }
  }
  const { engine, stub, proxy, messages, due, warned } = await promoted(Hangs, { hookMs: 50 });
  expect(warned).toEqual([{ msg: FAILED, hook: 'catchUp', type: 'HookTimeoutError' }]);
  expect(due.messages[1]?.content).toBe('summary of 6 messages');
  await until(() => late.length === 1);
  const found: unknown[] = [];
  engine.script = async (given, options, self) => {
    found.push(await self.services.store.get('key'));
    return summarise(given, options, self);
  };
  await send(proxy, stub, goOn(goOn(messages), 'x'.repeat(9000)));
  expect(engine.passes.map((pass) => engine.instances.indexOf(pass.engine)).slice(0, 2)).toEqual([0, 1]);
  expect(found[0]).toBeUndefined();
});

test('a pass that would take no time is made when it is due', async () => {
  const engine = scriptedEngine(undefined, NeedsNoTime);
  const { stub, proxy } = await preparing(engine);
  const messages = await sendNear(proxy, stub);
  await quiet();
  expect(engine.passes).toHaveLength(0);
  const due = await send(proxy, stub, grown(messages));
  expect(due.told.reason).toBe('compression_due');
  expect(engine.passes).toHaveLength(1);
});

test.each([
  [NeverSays, 'HookTimeoutError'],
  [FailsToSay, 'Error'],
  [Rejects, 'Error'],
])(
  'an engine that cannot say whether a pass is worth preparing is prepared all the same: %o',
  async (of, type) => {
    const engine = scriptedEngine(undefined, of);
    const { stub, proxy, messages } = await prepared(engine, { hostLimits: { hookMs: 50 } });
    await sendNear(proxy, stub, 'another');
    await until(() => engine.passes.length === 2);
    await quiet();
    const due = await send(proxy, stub, grown(messages));
    expect(due.told.reason).toBe('compression_due');
    expect(engine.passes).toHaveLength(2);
    expect(warned(proxy)).toEqual([{ msg: FAILED, hook: 'isWorthPreparing', type }]);
  },
);

test('one that does not say so in time is not asked again in that conversation for a while', async () => {
  let asked = 0;
  class Counts extends NeverSays {
    override isWorthPreparing(): never {
      asked += 1;
      return super.isWorthPreparing();
    }
  }
  const engine = scriptedEngine(undefined, Counts);
  const { stub, proxy, messages } = await prepared(engine, { hostLimits: { hookMs: 50 } });
  const due = grown(messages);
  await send(proxy, stub, due);
  await send(proxy, stub, goOn(due, 'x'.repeat(7000)));
  await until(() => engine.passes.length === 2);
  expect(asked).toBe(1);
  await sendNear(proxy, stub, 'another');
  await until(() => asked === 2);
});

test('a request waits for what runs in the background no longer than for a pass of its own', async () => {
  const engine = scriptedEngine(undefined, NeverSays);
  const compression = { ...EARLY, context_timeout_seconds: 0.2 };
  const { stub, proxy } = await preparing(engine, { compression, hostLimits: { hookMs: 600_000 } });
  const messages = await sendNear(proxy, stub);
  await quiet();
  const due = await send(proxy, stub, grown(messages));
  expect(due.told.reason).toBe('clamped_to_context');
  expect(engine.passes).toHaveLength(0);
  expect(warned(proxy)).toMatchObject([{ msg: 'compression did not help', reason: 'compression_timeout' }]);
});
