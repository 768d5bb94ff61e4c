import { expect, onTestFinished, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { scriptedEngine } from '../../support/engine.js';
import {
  countingStub,
  dialogue,
  folder,
  goOn,
  hosted,
  SYSTEM,
  send,
  tokensOf,
} from '../../support/hosted.js';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import { CHAT, json, type UpstreamStub } from '../../support/upstream-stub.js';

/** W of 4096, at the default threshold. */
const WINDOW = 3072;

/** An upstream that counts tools as well, as a server does, and writes the summaries. */
async function upstream(): Promise<UpstreamStub> {
  const message = { role: 'assistant', content: '## Goal\nGo on as before.' };
  return await countingStub({
    count: ({ messages, tools }) => tokensOf(messages) + (tools === undefined ? 0 : tokensOf(tools)),
    routes: {
      [`POST ${CHAT}`]: (_request, response) =>
        json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    },
  });
}

async function compressing(stub: UpstreamStub): Promise<TestProxy> {
  const file = JSON.stringify({ compression: { prepare: 0 } });
  const flags = { upstream: stub.url, engine: 'compressor', data: folder(), config: 'test.yaml' };
  const proxy = await startProxy(flags, { file });
  onTestFinished(() => proxy.close());
  await proxy.ready();
  return proxy;
}

/** Functions whose description takes so many tokens. */
const toolsOf = (tokens: number) => [
  { type: 'function', function: { name: 'look', description: 'd'.repeat(tokens * 4), parameters: {} } },
];

const said = (turn: number) => `Word ${turn} of a long talk. `.repeat(8);

function* talk(turns: number): Generator<Message[]> {
  let messages: Message[] = [SYSTEM, { role: 'user', content: said(0) }];
  for (let turn = 1; turn <= turns; turn += 1) {
    messages = goOn(messages, said(turn), said(turn));
    yield messages;
  }
}

test.each([
  ['a third of the window', 1000, 6],
  ['most of the window', 2300, 22],
] as const)(
  'tools count for when a pass is due and for how far it goes: tools of %s (Martian-Engineering/lossless-claw#961, Martian-Engineering/lossless-claw#1085, anomalyco/opencode#6286)',
  async (_, tokens, mostPasses) => {
    const stub = await upstream();
    const proxy = await compressing(stub);
    const more = { tools: toolsOf(tokens), max_tokens: 1000 };
    let passes = 0;
    for (const messages of talk(50)) {
      const { told, messages: view } = await send(proxy, stub, messages, { more });
      if (told.reason === 'compression_due') passes += 1;
      expect(tokensOf(view) + tokensOf(more.tools)).toBe(Number(told['prompt-tokens']));
      expect(Number(told['prompt-tokens'])).toBeLessThanOrEqual(WINDOW - 256);
      expect(view.at(-1)).toEqual(messages.at(-1));
    }
    expect(passes).toBeGreaterThan(2);
    expect(passes).toBeLessThanOrEqual(mostPasses);
  },
);

test('a view that is shorter than the low-water mark is compressed where the answer that is asked for has no room (Martian-Engineering/lossless-claw#1124)', async () => {
  const stub = await upstream();
  const proxy = await compressing(stub);
  const [messages = []] = [...talk(14)].slice(-1);
  expect(tokensOf(messages)).toBeLessThan(0.6 * (WINDOW - 256));
  const fits = await send(proxy, stub, messages);
  expect(fits.told.action).not.toBe('compressed');
  const wanted = 1700;
  const { told, messages: view } = await send(proxy, stub, goOn(messages), {
    more: { max_tokens: 2000, min_tokens: wanted },
  });
  expect(told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(tokensOf(view)).toBeLessThanOrEqual(WINDOW - wanted);
});

test('passes go on until that answer has room, below the low-water mark too (Martian-Engineering/lossless-claw#1124)', async () => {
  const stub = await upstream();
  const engine = scriptedEngine((messages) =>
    messages.map((one, i) => (i === 1 ? { ...one, content: String(one.content).slice(0, -800) } : one)),
  );
  const proxy = await hosted({ stub, engine });
  const wanted = 1700;
  const sent = await send(proxy, stub, dialogue(3, 1600), { more: { max_tokens: 2000, min_tokens: wanted } });
  expect(sent.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
  expect(tokensOf(sent.messages)).toBeLessThanOrEqual(WINDOW - wanted);
  expect(engine.passes).toHaveLength(2);
});
