import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { ScriptedEngine, scriptedEngine } from '../../support/engine.js';
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
import type { TestProxy } from '../../support/proxy.js';

/** 0.8 of the way to the trigger. */
const SOFT = Math.ceil(0.8 * LARGEST_THAT_FITS);
const EARLY = { prepare: 0.8 };
const quiet = () => new Promise((resolve) => setTimeout(resolve, 150));
const FAILED = 'a hook of the context engine failed';
const big = 'x'.repeat(2400);

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

async function promoted(of: typeof CatchesUp | typeof FailsToCatchUp | typeof LosesTheQuestion) {
  const stub = await countingStub();
  const engine = scriptedEngine(undefined, of);
  const proxy = await hosted({ stub, engine, compression: EARLY });
  let messages = dialogue(4, SOFT + 100);
  await send(proxy, stub, messages);
  await until(() => engine.passes.length === 1);
  await quiet();
  messages = goOn(goOn(messages, big), 'now');
  const due = await send(proxy, stub, messages);
  expect(due.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(engine.passes).toHaveLength(1);
  return { messages, due, next: await send(proxy, stub, goOn(messages)), warned: warned(proxy) };
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

test('a pass that would take no time is made when it is due', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(undefined, NeedsNoTime);
  const proxy = await hosted({ stub, engine, compression: EARLY });
  const messages = dialogue(4, SOFT + 100);
  await send(proxy, stub, messages);
  await quiet();
  expect(engine.passes).toHaveLength(0);
  const due = await send(proxy, stub, goOn(goOn(messages, big), 'now'));
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
    const stub = await countingStub();
    const engine = scriptedEngine(undefined, of);
    const proxy = await hosted({ stub, engine, compression: EARLY, hostLimits: { hookMs: 50 } });
    const messages = dialogue(4, SOFT + 100);
    await send(proxy, stub, messages);
    await send(proxy, stub, dialogue(4, SOFT + 100, 'another'));
    await until(() => engine.passes.length === 2);
    await quiet();
    const due = await send(proxy, stub, goOn(goOn(messages, big), 'now'));
    expect(due.told.reason).toBe('compression_due');
    expect(engine.passes).toHaveLength(2);
    expect(warned(proxy)).toEqual([{ msg: FAILED, hook: 'isWorthPreparing', type }]);
  },
);

test('a request waits for what runs in the background no longer than for a pass of its own', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(undefined, NeverSays);
  const compression = { ...EARLY, context_timeout_seconds: 0.2 };
  const proxy = await hosted({ stub, engine, compression, hostLimits: { hookMs: 600_000 } });
  const messages = dialogue(4, SOFT + 100);
  await send(proxy, stub, messages);
  await quiet();
  const due = await send(proxy, stub, goOn(goOn(messages, big), 'now'));
  expect(due.told.reason).toBe('clamped_to_context');
  expect(engine.passes).toHaveLength(0);
  expect(warned(proxy)).toMatchObject([{ msg: 'compression did not help', reason: 'compression_timeout' }]);
});
