import { expect, onTestFinished, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { scriptedEngine } from '../../support/engine.js';
import {
  countingStub,
  dialogue,
  folder,
  goOn,
  hosted,
  messagesText,
  SYSTEM,
  send,
  tokensOf,
} from '../../support/hosted.js';
import { startProxy } from '../../support/proxy.js';
import { CHAT, json } from '../../support/upstream-stub.js';

const NOTE = '<reminder>It is';

/** What an agent appends to its newest user message, and takes away again with the next request. */
function annotated(messages: readonly Message[], hour: number): Message[] {
  const last = messages.at(-1) as Message;
  return [
    ...messages.slice(0, -1),
    { ...last, content: `${last.content}\n${NOTE} ${hour} o'clock.</reminder>` },
  ];
}

test('a note on the newest user message that is gone in the next request does not cost the checkpoint', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  let messages = dialogue(4, 2900);
  const first = await send(proxy, stub, annotated(messages, 1));
  expect(first.told.reason).toBe('compression_due');
  const prefix = messagesText(
    Buffer.from(`{"messages":${JSON.stringify(first.messages.slice(0, -1))},"model"`),
  );
  for (const hour of [2, 3, 4, 5]) {
    messages = goOn(messages, `question at ${hour}`);
    const sent = annotated(messages, hour);
    const { told, body, messages: view } = await send(proxy, stub, sent);
    expect(told).toMatchObject({ reason: 'checkpoint_reused', conversation: first.told.conversation });
    expect(messagesText(body).startsWith(`${prefix},`)).toBe(true);
    expect(view.at(-1)).toEqual(sent.at(-1));
    expect(view.filter(({ content }) => String(content).includes(NOTE))).toHaveLength(1);
  }
  expect(engine.passes).toHaveLength(1);
});

test('a message that says something else in its place is a fork, and stands on the checkpoint too', async () => {
  const stub = await countingStub();
  const proxy = await hosted({ stub, engine: scriptedEngine() });
  const messages = dialogue(4, 2900);
  const first = await send(proxy, stub, annotated(messages, 1));
  const other = [...messages.slice(0, -1), { role: 'user', content: 'Something else.' }];
  const fork = await send(proxy, stub, annotated(goOn(other), 2));
  expect(fork.told.reason).toBe('checkpoint_reused');
  expect(fork.told.conversation).not.toBe(first.told.conversation);
});

/** A long talk through the compressor. @returns how many passes it took. */
async function talk(hasNotes: boolean): Promise<number> {
  const summary = { role: 'assistant', content: '## Goal\nGo on.' };
  const stub = await countingStub({
    routes: {
      [`POST ${CHAT}`]: (_request, response) =>
        json(response, 200, { choices: [{ index: 0, message: summary, finish_reason: 'stop' }] }),
    },
  });
  const flags = { upstream: stub.url, engine: 'compressor', data: folder() };
  const proxy = await startProxy(flags);
  onTestFinished(() => proxy.close());
  await proxy.ready();
  const ids = new Set<string | undefined>();
  let messages: Message[] = [SYSTEM, { role: 'user', content: 'question 0' }];
  for (let turn = 1; turn <= 60; turn += 1) {
    messages = goOn(messages, `question ${turn} `.repeat(8), `answer ${turn} `.repeat(20));
    const sent = hasNotes ? annotated(messages, turn) : messages;
    const { status, told } = await send(proxy, stub, sent, { more: { max_tokens: 500 } });
    const view = stub
      .at(CHAT)
      .map(({ body }) => body.toString())
      .findLast((body) => body.includes(`question ${turn} `) && !body.includes('<transcript>'));
    const seen = JSON.parse(view ?? '{}').messages as Message[];
    expect(status).toBe(200);
    expect(seen.at(-1)).toEqual(sent.at(-1));
    expect(seen.filter(({ content }) => String(content).includes(NOTE)).length).toBeLessThanOrEqual(1);
    expect(tokensOf(seen)).toBeLessThan(4096);
    if (told.conversation !== undefined) ids.add(told.conversation);
  }
  expect(ids.size).toBe(1);
  const list = (await (await fetch(`${proxy.url}/incontext/conversations`)).json()) as {
    conversations: { compressions: number }[];
  };
  expect(list.conversations).toHaveLength(1);
  return list.conversations[0]?.compressions ?? 0;
}

test('a long talk with such notes is one conversation, compressed as often as one without', async () => {
  const passes = await talk(false);
  expect(passes).toBeGreaterThan(1);
  expect(await talk(true)).toBe(passes);
});
