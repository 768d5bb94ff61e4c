import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { scriptedEngine } from '../../support/engine.js';
import { countingStub, dialogue, folder, goOn, hosted, SYSTEM, send } from '../../support/hosted.js';

const question = (text: string): Message => ({ role: 'user', content: text });
const summary: Message = { role: 'user', content: 'summary' };

/** Summarises all up to the last question but one, that included. */
const upToTheFormer = (messages: Message[]): Message[] => {
  const asked = messages.flatMap(({ role }, i) => (role === 'user' ? [i] : []));
  return [SYSTEM, summary, ...messages.slice((asked.at(-2) as number) + 1)];
};

/** A long question, a short one, and one that makes a pass due. */
const talk = [...dialogue(2, 1500), { role: 'assistant', content: 'yes' }, question('x'.repeat(6000))];
const formerQuestion = talk.slice(0, 4);

test('a question that was summarised meanwhile and is asked again goes out as it is', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(upToTheFormer);
  const data = folder();
  const proxy = await hosted({ stub, engine, data });
  expect((await send(proxy, stub, talk)).told.reason).toBe('compression_due');
  for (const _ of ['again', 'and again']) {
    const again = await send(proxy, stub, formerQuestion);
    expect(again.messages).toEqual(formerQuestion);
    expect(again.told).toMatchObject({ action: 'unchanged', reason: 'fits' });
  }
  await proxy.close();
  const anew = await hosted({ stub, engine, data });
  expect((await send(anew, stub, formerQuestion)).messages).toEqual(formerQuestion);
});

test('an earlier checkpoint stands for what comes before a question that is asked again', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(upToTheFormer);
  const data = folder();
  const proxy = await hosted({ stub, engine, data });
  await send(proxy, stub, talk);
  const longer = goOn(talk, 'and now?', 'long ago');
  const longest = goOn(longer, 'y'.repeat(6000), 'well');
  expect((await send(proxy, stub, longer)).told.reason).toBe('checkpoint_reused');
  expect((await send(proxy, stub, longest)).told.reason).toBe('compression_due');
  const expected = [SYSTEM, summary, ...longer.slice(4)];
  expect((await send(proxy, stub, longer)).messages).toEqual(expected);
  await proxy.close();
  const anew = await hosted({ stub, engine, data });
  expect((await send(anew, stub, longer)).messages).toEqual(expected);
});

test('a pass that was made early further on does not take the place of a question asked again', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(upToTheFormer);
  const proxy = await hosted({ stub, engine, compression: { prepare: 0.5 } });
  const early = [...talk.slice(0, -1), question('x'.repeat(1200))];
  await send(proxy, stub, early);
  await expect.poll(() => engine.passes.length).toBe(1);
  const larger = { more: { max_tokens: undefined, min_tokens: 1600 } };
  expect((await send(proxy, stub, formerQuestion, larger)).messages.at(-1)).toEqual(formerQuestion.at(-1));
});

test('a result that was shortened meanwhile and is asked about again goes out as it is', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) =>
    messages.map((one) => (one.role === 'tool' ? { ...one, content: 'cut' } : one)),
  );
  const proxy = await hosted({ stub, engine });
  const call = { id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } };
  const turn: Message[] = [
    SYSTEM,
    question('read it'),
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: 'r'.repeat(8000) },
  ];
  const sent = await send(proxy, stub, goOn(turn, 'x'.repeat(5000)));
  expect(sent.told.reason).toBe('compression_due');
  expect((await send(proxy, stub, turn)).messages).toEqual(turn);
});
