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

/** 0.8 of the way to the trigger. */
const SOFT = Math.ceil(0.8 * LARGEST_THAT_FITS);
const EARLY = { prepare: 0.8 };
const quiet = () => new Promise((resolve) => setTimeout(resolve, 150));
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
  return { messages, due, next: await send(proxy, stub, goOn(messages)) };
}

test('what came after a pass that was made early goes as well when it is due', async () => {
  const { messages, due, next } = await promoted(CatchesUp);
  expect(due.messages.slice(1)).toEqual([
    { role: 'user', content: 'summary of 6 messages, and 4 since' },
    messages.at(-1),
  ]);
  expect(messagesText(next.body).startsWith(messagesText(due.body))).toBe(true);
});

test.each([FailsToCatchUp, LosesTheQuestion])(
  'what was made early goes out where that fails: %o',
  async (of) => {
    const { messages, due, next } = await promoted(of);
    expect(due.messages[1]?.content).toBe('summary of 6 messages');
    expect(due.messages.slice(2)).toEqual(messages.slice(-5));
    expect(messagesText(next.body).startsWith(messagesText(due.body))).toBe(true);
  },
);

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
