import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TestProxy } from '../../support/proxy.js';
import { exchanges, REAL, type Stage, setStage, told } from '../support/stage.js';
import { type HermesAgent, hermesAgent } from './hermes-agent.js';

/** Its own prompt and tools take about four thousand tokens. */
const WINDOW = 16_384;
const NEEDED = 12_000;

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ contextLength: WINDOW });
});
afterAll(() => stage.close());

let agent: HermesAgent;
beforeEach(({ skip }) => {
  agent = hermesAgent(stage.clamping.url, stage.model);
  if (stage.contextLength < NEEDED)
    skip(`${REAL} serves ${stage.contextLength} tokens, too few for Hermes Agent`);
});
afterEach(() => agent.remove());

const call = (name: string, input: object) => ({ tool_calls: [{ name, arguments: input }] });
/** It looks for other servers' endpoints first. */
const chats = (proxy: TestProxy) => exchanges(proxy).filter(({ route }) => route === 'chat_completions');
const wordsFile = () => readFileSync(join(agent.work, 'notes.txt'), 'utf8');

test('Hermes Agent does a task of several tool turns', async () => {
  const rounds = [
    call('write_file', { path: 'notes.txt', content: 'one two three' }),
    call('read_file', { path: 'notes.txt' }),
    call('terminal', { command: 'wc -w < notes.txt' }),
    { text: 'There are three words in notes.txt.' },
  ];
  const { code, out } = await agent.run('-z', told('Write three words, and count them.', { rounds }));
  expect(code).toBe(0);
  const done = chats(stage.clamping);
  expect(new Set(done.map(({ status, outcome }) => `${status} ${outcome}`))).toEqual(
    new Set(['200 complete']),
  );
  expect(new Set(done.map(({ source }) => source)).has('none')).toBe(false);
  if (REAL !== undefined) return;
  expect(out).toBe('There are three words in notes.txt.');
  expect(wordsFile()).toBe('one two three');
  expect(done).toHaveLength(rounds.length);
});

test('Hermes Agent tries again where the server is busy', async () => {
  stage.relay.fail(1, { status: 503, headers: { 'retry-after': '0' } });
  const { code, out } = await agent.run('-z', told('hi', { text: 'hello there' }));
  expect(code).toBe(0);
  expect(chats(stage.clamping).at(-1)).toMatchObject({ status: 200, outcome: 'complete' });
  // It asks once more, too, where an answer is empty or ends in the middle.
  expect(stage.relay.generations).toBeGreaterThanOrEqual(2);
  if (REAL === undefined)
    expect({ out, tried: stage.relay.generations }).toEqual({ out: 'hello there', tried: 2 });
});
