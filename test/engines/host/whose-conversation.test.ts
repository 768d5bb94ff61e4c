import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { scriptedEngine, summarise } from '../../support/engine.js';
import {
  countingStub,
  dialogue,
  folder,
  goOn,
  hosted,
  LARGEST_THAT_FITS,
  messagesText,
  SYSTEM,
  send,
} from '../../support/hosted.js';
import { CHAT } from '../../support/upstream-stub.js';

const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const called = (id: string) => ({ headers: { 'x-incontext-conversation': id } });

test('two credentials with equal openings never share: what one made never reaches the other', async () => {
  const stub = await countingStub();
  const found: unknown[] = [];
  const engine = scriptedEngine(async (messages, _options, self) => {
    found.push(await self.services.store.get('key'));
    await self.services.store.set('key', 'anna');
    return [SYSTEM, { role: 'user', content: `summary ${found.length}` }, messages.at(-1) as Message];
  });
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(3, 3000);
  const anna = await send(proxy, stub, messages, as('anna'));
  expect(anna.messages[1]?.content).toBe('summary 1');
  const short = [...messages.slice(0, 1), { role: 'user', content: 'short' }];
  expect((await send(proxy, stub, short, as('ben'))).messages).toEqual(short);
  const ben = await send(proxy, stub, messages, as('ben'));
  expect(ben.messages[1]?.content).toBe('summary 2');
  expect(ben.told.conversation).not.toBe(anna.told.conversation);
  expect(found).toEqual([undefined, undefined]);
  const next = await send(proxy, stub, goOn(messages), as('anna'));
  expect(next.messages[1]?.content).toBe('summary 1');
  const none = await send(proxy, stub, goOn(messages));
  expect(none.messages[1]?.content).toBe('summary 3');
});

test('nor where one calls its conversation by the id of the other’s', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) => [
    SYSTEM,
    { role: 'user', content: `summary ${engine.passes.length}` },
    messages.at(-1) as Message,
  ]);
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(3, 3000);
  const anna = await send(proxy, stub, messages, as('anna'));
  const id = anna.told.conversation as string;
  const { headers } = as('ben');
  const ben = await send(proxy, stub, messages, { headers: { ...headers, ...called(id).headers } });
  expect(ben.messages[1]?.content).toBe('summary 2');
  expect(ben.told.conversation).toMatch(/^[0-9a-f]{32}$/);
  expect(ben.told.conversation).not.toBe(id);
});

test('an id of the client’s own keeps conversations apart that say the same, and finds them again', async () => {
  const stub = await countingStub();
  const data = folder();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine, data });
  const messages = dialogue(3, 3000);
  const a = await send(proxy, stub, messages, called('a'));
  const b = await send(proxy, stub, messages, called('b'));
  expect(b.told.conversation).not.toBe(a.told.conversation);
  for (const [id, first] of [
    ['a', a],
    ['b', b],
  ] as const) {
    const next = await send(proxy, stub, goOn(messages), called(id));
    expect(next.told.conversation).toBe(first.told.conversation);
  }
  await proxy.close();
  const again = await hosted({ stub, engine, data });
  for (const [id, first] of [
    ['b', b],
    ['a', a],
  ] as const) {
    const next = await send(again, stub, goOn(goOn(messages)), called(id));
    expect(next.told.conversation).toBe(first.told.conversation);
  }
});

test('the id that we gave is an id that a client may give back, after a restart too', async () => {
  const stub = await countingStub();
  const data = folder();
  const proxy = await hosted({ stub, engine: scriptedEngine(), data });
  const messages = dialogue(3, 3000);
  const first = await send(proxy, stub, messages);
  const id = first.told.conversation as string;
  const live = await send(proxy, stub, goOn(messages), called(id));
  expect(live.told).toMatchObject({ conversation: id, reason: 'checkpoint_reused' });
  const other = [SYSTEM, { role: 'user', content: `something else ${'x'.repeat(12_000)}` }];
  expect((await send(proxy, stub, other, called(id))).told.conversation).toBe(id);
  await proxy.close();
  const again = await hosted({ stub, engine: scriptedEngine(), data });
  const next = await send(again, stub, goOn(goOn(messages)), called(id));
  expect(next.told).toMatchObject({ conversation: id, reason: 'checkpoint_reused' });
  const unknown = await send(again, stub, goOn(goOn(messages)), called('f'.repeat(32)));
  expect(unknown.told.conversation).not.toBe(id);
});

test('a model switch tells the engine first, and leaves the other model’s checkpoint alone', async () => {
  const models = [
    { id: 'm', max_model_len: 4096 },
    { id: 'large', max_model_len: 8192 },
  ];
  const stub = await countingStub({ models });
  const seen: unknown[] = [];
  const engine = scriptedEngine((messages, options, self) => {
    seen.push([self.models.at(-1), self.contextLength, self.thresholdTokens]);
    return summarise(messages, options, self);
  });
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(4, 3000);
  const first = await send(proxy, stub, messages);
  expect(first.told.reason).toBe('compression_due');
  const longer = goOn(messages);
  const switched = await send(proxy, stub, longer, { more: { model: 'large' } });
  expect(switched.messages).toEqual(longer);
  expect(switched.told).toMatchObject({ window: '6144', conversation: first.told.conversation });
  const back = await send(proxy, stub, longer);
  expect(back.told.reason).toBe('checkpoint_reused');
  expect(messagesText(back.body).startsWith(messagesText(first.body))).toBe(true);
  const grown = goOn(longer, 'x'.repeat(13_000));
  const large = await send(proxy, stub, grown, { more: { model: 'large' } });
  expect(large.told.reason).toBe('compression_due');
  expect(seen).toEqual([
    ['m', 4096, 3072],
    ['large', 8192, 6144],
  ]);
  expect(engine.instances).toHaveLength(1);
  expect((await send(proxy, stub, longer)).told.reason).toBe('checkpoint_reused');
});

test('an overflow that counting did not prevent is met by the engine, once', async () => {
  const stub = await countingStub({ window: 4096, count: 1000 });
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(4, 3900);
  let refused = 0;
  const overflow = {
    message:
      "This model's maximum context length is 4096 tokens. However, you requested 1000 output tokens and your prompt contains at least 3097 input tokens, for a total of at least 4097 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
    type: 'BadRequestError',
    param: null,
    code: 400,
  };
  stub.set({
    routes: {
      [`POST ${CHAT}`]: (_request, response) => {
        refused += 1;
        response.writeHead(refused === 1 ? 400 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(refused === 1 ? { error: overflow } : { ok: true }));
        stub.set({ count: (body) => Math.ceil(JSON.stringify(body.messages).length / 4) });
      },
    },
  });
  const sent = await send(proxy, stub, messages);
  expect(sent.status).toBe(200);
  expect(sent.told).toMatchObject({ action: 'compressed', reason: 'overflow_recovered' });
  expect(engine.passes).toHaveLength(1);
  expect(stub.at(CHAT)).toHaveLength(2);
  const next = await send(proxy, stub, goOn(messages));
  expect(messagesText(next.body).startsWith(messagesText(sent.body))).toBe(true);
});

test('another process on the same folder finds the checkpoint that this one made', async () => {
  const stub = await countingStub();
  const data = folder();
  const one = await hosted({ stub, engine: scriptedEngine(), data });
  const two = await hosted({ stub, engine: scriptedEngine(), data });
  await send(two, stub, dialogue(2, 500, 'before'));
  const messages = dialogue(3, 3000);
  const first = await send(one, stub, messages);
  const next = await send(two, stub, goOn(messages));
  expect(next.told).toMatchObject({ reason: 'checkpoint_reused', conversation: first.told.conversation });
  expect(messagesText(next.body).startsWith(messagesText(first.body))).toBe(true);
  expect(next.told['prompt-tokens']).toBe(String(Math.ceil(JSON.stringify(next.messages).length / 4)));
});

test('two branches that alternate stay what they are', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) => [
    SYSTEM,
    { role: 'user', content: `summary ${engine.passes.length}` },
    messages.at(-1) as Message,
  ]);
  const proxy = await hosted({ stub, engine });
  const shared = dialogue(3, LARGEST_THAT_FITS - 100);
  await send(proxy, stub, shared);
  let left = goOn(shared, 'l'.repeat(1600), 'left answer');
  let right = goOn(shared, 'r'.repeat(1600), 'right answer');
  const first = [await send(proxy, stub, left), await send(proxy, stub, right)];
  expect(first.map(({ messages }) => messages[1]?.content)).toEqual(['summary 1', 'summary 2']);
  for (let turn = 0; turn < 3; turn += 1) {
    left = goOn(left, 'left');
    right = goOn(right, 'right');
    expect((await send(proxy, stub, left)).messages[1]?.content).toBe('summary 1');
    expect((await send(proxy, stub, right)).messages[1]?.content).toBe('summary 2');
  }
});
