import { expect, onTestFinished, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { countingStub, folder, goOn, messagesText, SYSTEM, send, tokensOf } from '../../support/hosted.js';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import { CHAT, json, type UpstreamStub } from '../../support/upstream-stub.js';

const words = (turn: number) => `Question ${turn} is about file ${turn}. `.repeat(8);
const TALK: Message[] = [
  SYSTEM,
  ...Array.from({ length: 22 }, (_, turn): Message[] => [
    { role: 'user', content: words(turn) },
    { role: 'assistant', content: `It is answered. ${words(turn)}` },
  ]).flat(),
  { role: 'user', content: 'And now?' },
];

interface Upstream {
  readonly stub: UpstreamStub;
  /** How it answers the compressor's own requests from now on; status 0: not at all. */
  summary: { status: number; text: string };
  asked: number;
}

async function upstream(): Promise<Upstream> {
  const stub = await countingStub({
    routes: {
      [`POST ${CHAT}`]: (request, response) => {
        if (!request.body.includes('<transcript>')) return json(response, 200, { ok: true });
        self.asked += 1;
        const { status, text } = self.summary;
        if (status === 0) return;
        if (status !== 200) return json(response, status, { error: { message: 'no', code: status } });
        const message = { role: 'assistant', content: text };
        return json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
      },
    },
  });
  const self: Upstream = { stub, summary: { status: 200, text: '## Goal\nThe first summary.' }, asked: 0 };
  return self;
}

async function compressing(
  stub: UpstreamStub,
  compression: Record<string, unknown> = {},
  compressor: Record<string, unknown> = {},
): Promise<TestProxy> {
  const file = JSON.stringify({
    compression: { prepare: 0, protect_last_n: 2, ...compression },
    engines: { compressor },
  });
  const flags = { upstream: stub.url, engine: 'compressor', data: folder(), config: 'test.yaml' };
  const proxy = await startProxy(flags, { file });
  onTestFinished(() => proxy.close());
  await proxy.ready();
  return proxy;
}

test.each([401, 503])(
  'a summariser that answers %i destroys nothing: the last good state serves, and the next pass starts from it',
  async (status) => {
    const up = await upstream();
    const { stub } = up;
    const proxy = await compressing(stub);
    const good = await send(proxy, stub, TALK);
    expect(good.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
    expect(messagesText(good.body)).toContain('The first summary.');
    const compressNext = async () => {
      const url = `${proxy.url}/incontext/conversations/${good.told.conversation}/compress`;
      expect((await fetch(url, { method: 'POST' })).status).toBe(202);
    };

    up.summary = { status, text: '' };
    await compressNext();
    const longer = goOn(TALK, words(20));
    const asked = up.asked;
    const during = await send(proxy, stub, longer);
    expect(up.asked).toBe(asked + 1);
    expect(during.status).toBe(200);
    expect(messagesText(during.body).startsWith(messagesText(good.body))).toBe(true);
    expect(during.messages.slice(-2)).toEqual(longer.slice(-2));

    up.summary = { status: 200, text: '## Goal\nThe second summary.' };
    await compressNext();
    const after = await send(proxy, stub, goOn(longer, 'And then?'));
    expect(after.told.action).toBe('compressed');
    expect(messagesText(after.body)).toContain('The second summary.');
    expect(messagesText(after.body)).not.toContain('The first summary.');
  },
);

test.each([401, 503])(
  'a conversation that grows beyond the context while the summariser answers %i is compressed at once, by rules',
  async (status) => {
    const up = await upstream();
    const { stub } = up;
    const proxy = await compressing(stub);
    up.summary = { status, text: '' };
    let talk = TALK;
    while (tokensOf(talk) < 3700) talk = goOn(talk, words(40), words(40));
    const clamped = await send(proxy, stub, talk);
    expect(clamped.told).toMatchObject({ action: 'clamped', reason: 'clamped_to_context' });
    // Too little came since for another try, if it still went without one.
    talk = goOn(talk, words(50), words(50).repeat(4));
    expect(tokensOf(talk)).toBeGreaterThan(4096);
    expect(tokensOf(talk)).toBeLessThan(3700 + 1024);
    const beyond = await send(proxy, stub, talk);
    expect(beyond.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
    expect(beyond.messages.at(-1)).toEqual(talk.at(-1));
  },
);

test.each([
  ['compression.summary_timeout_seconds', { summary_timeout_seconds: 0.2 }, {}],
  ['engines.compressor.summary_timeout_seconds', {}, { summary_timeout_seconds: 0.2 }],
  ['half of compression.context_timeout_seconds', { context_timeout_seconds: 4 }, {}],
])(
  'a summariser that hangs is given %s, and the request goes out in time with an extract',
  async (_, compression, compressor) => {
    const up = await upstream();
    const { stub } = up;
    const proxy = await compressing(stub, compression, compressor);
    up.summary = { status: 0, text: '' };
    const sent = await send(proxy, stub, TALK);
    expect(up.asked).toBe(1);
    expect(sent.told).toMatchObject({ action: 'compressed', reason: 'compression_due' });
    expect(sent.messages.at(-1)).toEqual(TALK.at(-1));
    expect(messagesText(sent.body)).toMatch(/## Done.*- User: Question/);
    const [asked] = stub.at(CHAT);
    await asked?.cut;
  },
);
