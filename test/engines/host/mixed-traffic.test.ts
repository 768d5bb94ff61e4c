import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { type Script, scriptedEngine, summarise } from '../../support/engine.js';
import { countingStub, hosted, SYSTEM } from '../../support/hosted.js';
import { postChat } from '../../support/proxy.js';
import { CHAT } from '../../support/upstream-stub.js';

/** The same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const tagOf = (message: Message | undefined) => String(message?.content).split(' ')[0] as string;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Summarises under the name of whom it is for, slowly; some passes fail in one of many ways. */
function moody(random: (below: number) => number): Script {
  return async (messages, options, engine) => {
    await pause(random(30));
    const mood = random(10);
    if (mood === 0) throw new Error('broken');
    if (mood === 1) return [];
    if (mood === 2) return messages;
    const made = await summarise(messages, options, engine);
    return made.map((one) =>
      String(one.content).startsWith('summary')
        ? { ...one, content: `${tagOf(messages.at(-1))} ${one.content}` }
        : one,
    );
  };
}

/** A conversation of two branches that its clients play at once, each word under the name of who may hear it. */
async function play(url: string, name: string, random: (below: number) => number): Promise<void> {
  const filler = 'x'.repeat(1500 + random(1500));
  const shared = [
    SYSTEM,
    { role: 'user', content: `${name} begin ${filler}` },
    { role: 'assistant', content: `${name} yes` },
  ];
  const branch = async (own: string) => {
    let messages: Message[] = [...shared];
    for (let turn = 0; turn < 7; turn += 1) {
      messages = [...messages, { role: 'user', content: `${own} ${turn} ${'y'.repeat(random(3000))}` }];
      const body = JSON.stringify({ model: 'm', messages, max_tokens: 300 });
      const gone = random(5) === 0 ? AbortSignal.timeout(random(40)) : undefined;
      const requests = Array.from({ length: 1 + random(2) }, () =>
        postChat(url, body, {}, gone ? { signal: gone } : {}),
      );
      for (const answer of await Promise.allSettled(requests)) {
        if (answer.status === 'fulfilled') await answer.value.arrayBuffer().catch(() => undefined);
      }
      messages = [...messages, { role: 'assistant', content: `${own} answer ${turn}` }];
    }
  };
  await Promise.all([branch(`${name}/left`), branch(`${name}/right`)]);
}

test.each([1, 2, 3])(
  'nobody hears a word of another conversation or branch, whatever fails meanwhile (%i)',
  async (seed) => {
    const random = numbers(seed);
    const stub = await countingStub();
    const engine = scriptedEngine(moody(random));
    const proxy = await hosted({ stub, engine, compression: { prepare: 0.7, context_timeout_seconds: 2 } });
    await Promise.all(['anna', 'ben', 'cleo'].map((name) => play(proxy.url, name, random)));
    expect(engine.passes.length).toBeGreaterThan(2);
    for (const { body } of stub.at(CHAT)) {
      const { messages } = JSON.parse(body.toString()) as { messages: Message[] };
      expect(messages[0]).toEqual(SYSTEM);
      const mine = tagOf(messages.at(-1));
      const heard = new Set(messages.slice(1).map(tagOf));
      heard.delete(mine);
      heard.delete(mine.split('/')[0] as string);
      expect([...heard]).toEqual([]);
    }
    const told = await fetch(`${proxy.url}/incontext/conversations`);
    expect(told.status).toBe(200);
  },
);
