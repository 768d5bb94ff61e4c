import { expect, onTestFinished, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { countingStub, folder, type Sent, SYSTEM, send } from '../../support/hosted.js';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import { CHAT, json, type UpstreamStub } from '../../support/upstream-stub.js';
import { quiet } from './support/early.js';

const TURNS = 24;
const prose = (of: string, words: number) => `${of} ${'goes on and on '.repeat(words / 4)}`;

/** An upstream that also writes the summaries. */
async function upstream(): Promise<UpstreamStub> {
  const message = { role: 'assistant', content: '## Goal\nWhat was asked was done.' };
  return await countingStub({
    routes: {
      [`POST ${CHAT}`]: (_request, response) =>
        json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    },
  });
}

const summariesOf = (stub: UpstreamStub) =>
  stub.at(CHAT).filter(({ body }) => body.includes('<transcript>')).length;

async function compressing(stub: UpstreamStub, data: string, prepare: number): Promise<TestProxy> {
  const file = JSON.stringify({ compression: { prepare } });
  const flags = { upstream: stub.url, engine: 'compressor', data, config: 'test.yaml' };
  const proxy = await startProxy(flags, { file });
  onTestFinished(() => proxy.close());
  await proxy.ready();
  return proxy;
}

/** What a client sends in the course of a talk in which every third request is worked on with a tool. */
function* requests(): Generator<Message[]> {
  const messages: Message[] = [SYSTEM];
  for (let turn = 0; turn < TURNS; turn += 1) {
    messages.push({ role: 'user', content: prose(`Transfer ${4100 + turn} euros once:`, 40) });
    yield [...messages];
    if (turn % 3 === 2) {
      const call = {
        id: 'call_0',
        type: 'function',
        function: { name: 'transfer', arguments: `{"turn":${turn}}` },
      };
      messages.push({ role: 'assistant', content: null, tool_calls: [call] });
      messages.push({ role: 'tool', tool_call_id: 'call_0', content: prose(`Receipt ${turn}`, 160) });
      yield [...messages];
    }
    messages.push({ role: 'assistant', content: prose(`Transfer of turn ${turn} is done.`, 120) });
  }
}

/** The last request stands in what went upstream as it was said, last of all users', and nowhere else. */
function expectAskedOnce(history: readonly Message[], { messages, status }: Sent): void {
  expect(status).toBe(200);
  const last = history.findLast(({ role }) => role === 'user') as Message;
  expect(messages.filter(({ role }) => role === 'user').at(-1)).toEqual(last);
  const said = String(last.content).slice(0, 'Transfer 4100 euros'.length);
  expect(JSON.stringify(messages).split(said)).toHaveLength(2);
}

test.each([
  ['when they are due', 0],
  ['early', 0.5],
] as const)(
  'the last user message goes upstream exactly once, with passes that are made %s, retries, a forced pass and a restart (openclaw/openclaw#75972)',
  async (_, prepare) => {
    const stub = await upstream();
    const data = folder();
    let proxy = await compressing(stub, data, prepare);
    const reasons: string[] = [];
    let sent = 0;
    let early = 0;
    for (const history of requests()) {
      for (const attempt of ['first', 'retry']) {
        const answer = await send(proxy, stub, history);
        expectAskedOnce(history, answer);
        reasons.push(String(answer.told.reason));
        const before = summariesOf(stub);
        if (prepare > 0 && attempt === 'first') await quiet();
        early += summariesOf(stub) - before;
        if (sent === 15) {
          const url = `${proxy.url}/incontext/conversations/${answer.told.conversation}/compress`;
          expect((await fetch(url, { method: 'POST' })).status).toBe(202);
        }
      }
      sent += 1;
      if (sent === 20) {
        await proxy.close();
        proxy = await compressing(stub, data, prepare);
      }
    }
    expect(reasons.filter((reason) => reason === 'compression_due').length).toBeGreaterThan(2);
    expect(reasons.filter((reason) => reason === 'checkpoint_reused').length).toBeGreaterThan(20);
    expect(early > 0).toBe(prepare > 0);
  },
);
