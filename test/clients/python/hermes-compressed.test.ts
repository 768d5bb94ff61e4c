import { afterAll, beforeAll, expect, test } from 'vitest';
import { commonShare } from '../../proof/prefixes.js';
import { Random } from '../../proof/random.js';
import { expectAllFit, type ScriptedStage, setScriptedStage } from '../support/scripted-stage.js';
import { REAL } from '../support/stage.js';
import { follows, lastUserMessage, layTrail } from '../support/trail.js';
import { type HermesAgent, hermesAgent } from './hermes-agent.js';

let stage: ScriptedStage;
let agent: HermesAgent;
let calls = 0;
beforeAll(async () => {
  const answer = follows({ tool: 'read_file', argument: 'path', idOf: () => `chatcmpl-tool-${++calls}` });
  // Its own prompt and tools take about four thousand tokens of this.
  stage = await setScriptedStage({ contextLength: 16_384, answer });
  agent = hermesAgent(stage.proxy.url, 'tiny');
});
afterAll(async () => {
  agent.remove();
  await stage.close();
});

test.skipIf(REAL !== undefined)(
  'Hermes Agent ends a task that is longer than the window, and a resumed session goes on from what was compressed',
  { timeout: 400_000 },
  async () => {
    const length = [25, 70] as const;
    const oak = layTrail(new Random(1), { name: 'oak', steps: 15, length });
    const elm = layTrail(new Random(2), { name: 'elm', steps: 6, length });
    agent.write(oak.files);
    agent.write(elm.files);
    const chat = (...words: string[]) => agent.run('chat', '--quiet', '--query', ...words);

    const first = await chat(oak.request);
    expect(first).toMatchObject({ code: 0, out: expect.stringContaining(oak.marks) });
    const read = stage.asked();
    expect(read).toHaveLength(16);
    expect(new Set(read.map(lastUserMessage))).toEqual(new Set([oak.request]));

    const question = 'So what was every oak mark?';
    const session = /session_id: (\S+)/.exec(first.err)?.[1] ?? '';
    const second = await chat(question, '--resume', session);
    expect(second).toMatchObject({ code: 0, out: expect.stringContaining(oak.marks) });
    const resumed = stage.asked().slice(read.length);
    expect(resumed.map(lastUserMessage)).toEqual([question]);
    expect(commonShare(read.at(-1)?.promptIds ?? [], resumed[0]?.promptIds ?? [])).toBeGreaterThan(0.99);

    const third = await chat(elm.request, '--continue');
    expect(third).toMatchObject({ code: 0, out: expect.stringContaining(elm.marks) });
    const further = stage.asked().slice(read.length + resumed.length);
    expect(new Set(further.map(lastUserMessage))).toEqual(new Set([elm.request]));
    expect(commonShare(resumed[0]?.promptIds ?? [], further[0]?.promptIds ?? [])).toBeGreaterThan(0.99);

    expectAllFit(stage);
    const listed = await (await fetch(`${stage.proxy.url}/incontext/conversations`)).json();
    expect(listed).toMatchObject({ conversations: [{}] });
  },
);
