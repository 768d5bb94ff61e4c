import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { agentRuns } from './agent-runs.js';
import { isInView } from './answers.js';
import { longConversation } from './long-conversation.js';
import { commonShare, uncachedTokens } from './prefixes.js';
import { firstOccurrences, type Recording, textOf, turnStarts } from './recording.js';
import { TokenMeter } from './tokens.js';
import { brokenPairs } from './tool-pairs.js';

const CONTEXT = 8192;
let upstream: TestSimulator;
beforeAll(async () => {
  const models = [{ id: 'simulated', maxModelLen: CONTEXT }];
  upstream = await simulator({ vllm: '0.16', models });
});
afterAll(() => upstream.close());

async function tokensOf({ system, messages, tools }: Recording): Promise<number> {
  const request = { messages: [{ role: 'system', content: system }, ...messages], tools };
  return (await new TokenMeter(upstream.url).chat(request))?.length ?? 0;
}

describe('the recordings', () => {
  it('of the long conversation: sixty turns and twelve questions, 37,000 tokens, every fact told before it is asked for', async () => {
    const recording = longConversation();
    expect(turnStarts(recording.messages)).toHaveLength(72);
    expect(brokenPairs(recording.messages)).toBe(0);
    for (const [step, fact] of recording.questions) {
      const told = recording.messages.slice(0, step - 1).filter((one) => textOf(one).includes(fact.value));
      expect(told, fact.value).toHaveLength(1);
      expect(textOf(recording.messages[step - 1] ?? { role: 'user', content: '' })).not.toContain(fact.value);
    }
    expect(await tokensOf(recording)).toBeGreaterThan(36_000);
    expect(await tokensOf(recording)).toBeLessThan(38_000);
  });

  it('of the long conversation: twelve facts, one of them corrected, and tool results of 2,800 tokens in turns 17 and 38', async () => {
    const { messages, facts } = longConversation();
    expect(facts).toHaveLength(12);
    expect(facts.filter(({ outdated }) => outdated !== undefined)).toHaveLength(1);
    const meter = new TokenMeter(upstream.url);
    const starts = turnStarts(messages);
    const long: [turn: number, tokens: number][] = [];
    for (const [at, message] of messages.entries()) {
      if (message.role !== 'tool') continue;
      const tokens = await meter.text(message.content);
      if (tokens > 1000) long.push([starts.findLastIndex((start) => start < at) + 1, tokens]);
    }
    expect(long.map(([turn]) => turn)).toEqual([17, 38]);
    for (const [, tokens] of long) expect(Math.abs(tokens - 2800)).toBeLessThan(100);
  });

  it('of the agents: about 78,000 tokens, loops of 22 messages, ids of which none is part of another', async () => {
    const recording = agentRuns();
    const starts = [...turnStarts(recording.messages), recording.messages.length];
    const loops = starts.slice(1).map((end, at) => end - (starts[at] ?? 0) - 2);
    expect(Math.max(...loops)).toBe(22);
    expect(brokenPairs(recording.messages)).toBe(0);
    expect(firstOccurrences(recording).size).toBe(recording.ids.length);
    expect(await tokensOf(recording)).toBeGreaterThan(75_000);
    expect(await tokensOf(recording)).toBeLessThan(81_000);
  });
});

describe('the measures', () => {
  it('see calls without answers, answers without calls, and too few answers for one id', () => {
    const calls = (...ids: string[]) => ({
      role: 'assistant' as const,
      content: null,
      tool_calls: ids.map((id) => ({
        id,
        type: 'function' as const,
        function: { name: 'f', arguments: '' },
      })),
    });
    const result = (id: string) => ({ role: 'tool' as const, tool_call_id: id, content: '' });
    const user = { role: 'user' as const, content: '' };
    expect(brokenPairs([user, calls('a', 'b'), result('b'), result('a'), user])).toBe(0);
    expect(brokenPairs([user, calls('a', 'a'), result('a'), user])).toBe(1);
    expect(brokenPairs([user, calls('a'), user, result('a')])).toBe(2);
    expect(brokenPairs([user, result('a')])).toBe(1);
  });

  it('count common prefixes of the prompt before, and what a cache in blocks of 16 lacks', () => {
    const ids = (count: number, from = 0) => Array.from({ length: count }, (_, at) => from + at);
    expect(commonShare(ids(100), ids(150))).toBe(1);
    expect(commonShare(ids(100), [...ids(25), ...ids(100, 500)])).toBe(0.25);
    expect(uncachedTokens([ids(100), ids(150)])).toBe(100 + 150 - 96);
  });

  it('believe the later of two values', () => {
    const [fact] = longConversation().facts.filter(({ outdated }) => outdated !== undefined);
    if (fact === undefined) throw new Error('no fact is corrected');
    const old = fact.outdated?.sentence ?? '';
    expect(isInView(fact, `${old} ${fact.sentence}`)).toBe(true);
    expect(isInView(fact, `${fact.sentence} ${old}`)).toBe(false);
    expect(isInView(fact, old)).toBe(false);
  });
});
