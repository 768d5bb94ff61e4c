import { expect, test } from 'vitest';
import type { Message } from '../../../src/conversation/message.js';
import { scriptedEngine } from '../../support/engine.js';
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
  tokensOf,
} from '../../support/hosted.js';

/** Keeps the first message behind the head and the last turn. */
const keepFirst = (messages: Message[]): Message[] => [
  ...messages.slice(0, 2),
  { role: 'assistant', content: 'summary' },
  ...messages.slice(messages.findLastIndex(({ role }) => role === 'user')),
];

const ODD_FIRST =
  '{"content":"\\u0068i \\ud800","role":"user","n":1.0,"big":12345678901234567890,"cache_control":{"type":"ephemeral"},"__proto__":{"a":1}}';
const ODD_LAST = '{ "role" : "user" ,\n"content": "wh\\u0061t?","x":1e0 }';

function oddDialogue(): string {
  const long = JSON.stringify({ role: 'assistant', content: 'x'.repeat(12_000) });
  return `[${JSON.stringify(SYSTEM)},${ODD_FIRST},${long},{"role":"user","content":"more"},{"role":"assistant","content":"yes"},${ODD_LAST}]`;
}

test('what the engine keeps goes in the client’s own bytes, before and behind the cut', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(keepFirst);
  const proxy = await hosted({ stub, engine });
  const sent = await send(proxy, stub, oddDialogue());
  expect(sent.told.reason).toBe('compression_due');
  expect(messagesText(sent.body)).toBe(
    `${JSON.stringify(SYSTEM)},${ODD_FIRST},{"role":"assistant","content":"summary"},${ODD_LAST}`,
  );
});

test('the next requests begin with the same bytes until the next compression', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  let messages = dialogue(4, 3000);
  let prefix = messagesText((await send(proxy, stub, messages)).body);
  for (let turn = 1; turn <= 5; turn += 1) {
    messages = goOn(messages, `question ${turn}`, `answer ${turn}`);
    const sent = await send(proxy, stub, messages);
    const added = messages.slice(-2).map((message) => JSON.stringify(message));
    expect(messagesText(sent.body)).toBe([prefix, ...added].join(','));
    expect(sent.told).toMatchObject({
      action: 'compressed',
      reason: 'checkpoint_reused',
      'prompt-tokens': String(tokensOf(sent.messages)),
    });
    expect(Math.abs(Number(sent.told['original-prompt-tokens']) - tokensOf(messages))).toBeLessThan(2);
    prefix = messagesText(sent.body);
  }
  expect(engine.passes).toHaveLength(1);
});

test('a later compression is built on the earlier one, and its summary is given back with its marks', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine((messages) => [
    SYSTEM,
    {
      role: 'user',
      content: `summary ${engine.passes.length}`,
      _engine_mark: { pass: engine.passes.length },
    },
    ...messages.slice(messages.findLastIndex(({ role }) => role === 'user')),
  ]);
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(3, 3000);
  await send(proxy, stub, messages);
  const longer = goOn(goOn(messages, 'x'.repeat(11_500)), 'short');
  const sent = await send(proxy, stub, longer);
  expect(sent.told.reason).toBe('compression_due');
  expect(engine.passes[1]?.messages[1]).toMatchObject({ content: 'summary 1', _engine_mark: { pass: 1 } });
  expect(sent.messages[1]).toEqual({ role: 'user', content: 'summary 2' });
  expect(sent.told['original-prompt-tokens']).toBe(String(tokensOf(longer)));
});

test('private fields of a client never go upstream, compressed or not', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine(keepFirst);
  const proxy = await hosted({ stub, engine });
  const uids = Array.from({ length: 6 }, (_, i) => `0123456789abcdef0123456789abcde${i}`);
  const messages: Message[] = dialogue(3, 4000).map((message, i) => ({
    ...message,
    message_uid: uids[i] as string,
  }));
  (messages[1] as Message).content = 'short';
  (messages[2] as Message).content = 'x'.repeat(12_000);
  const sent = await send(proxy, stub, messages);
  expect(engine.passes[0]?.messages.map(({ message_uid: uid }) => uid)).toEqual([
    undefined,
    ...uids.slice(1),
  ]);
  expect(sent.told.reason).toBe('compression_due');
  expect(sent.body.toString()).not.toContain('_uid');
});

test('a client that changes its instructions each time keeps its checkpoint (ranxianglei/billion-context#1148)', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const dated = (messages: Message[], date: string) => [
    { role: 'system', content: `Today is ${date}.` },
    { role: 'developer', content: `It is ${date}.` },
    ...messages.slice(1),
  ];
  const messages = dialogue(3, 3000);
  const first = await send(proxy, stub, dated(messages, 'Monday'));
  expect(first.told.reason).toBe('compression_due');
  const next = await send(proxy, stub, dated(goOn(messages), 'Tuesday'));
  expect(next.told.reason).toBe('checkpoint_reused');
  expect(next.messages.slice(0, 2)).toEqual(dated([], 'Tuesday'));
  expect(next.messages.slice(2, -2)).toEqual(first.messages.slice(2));
  expect(engine.passes).toHaveLength(1);
});

test('after a restart the conversation goes on with the same bytes', async () => {
  const stub = await countingStub();
  const data = folder();
  const engine = scriptedEngine(keepFirst);
  const before = await hosted({ stub, engine, data });
  const odd = oddDialogue();
  const first = await send(before, stub, odd);
  await before.close();
  const again = scriptedEngine();
  const proxy = await hosted({ stub, engine: again, data });
  const next = await send(
    proxy,
    stub,
    `${odd.slice(0, -1)},{"role":"assistant","content":"a"},{"role":"user","content":"b"}]`,
  );
  expect(next.told).toMatchObject({ reason: 'checkpoint_reused', conversation: first.told.conversation });
  expect(messagesText(next.body)).toBe(
    `${messagesText(first.body)},{"role":"assistant","content":"a"},{"role":"user","content":"b"}`,
  );
  expect(again.passes).toHaveLength(0);
});

test('a small change of what was long ago sent leads back to the client’s own messages', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(4, 3000);
  await send(proxy, stub, messages);
  const edited = messages.map((message, i) => (i === 3 ? { ...message, content: 'edited' } : message));
  (edited[1] as Message).content = 'short now';
  const sent = await send(proxy, stub, edited);
  expect(sent.messages).toEqual(edited);
  expect(sent.told.action).not.toBe('compressed');
});

test('an edit behind an older checkpoint goes back to that one', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(3, 3000);
  const first = await send(proxy, stub, messages);
  const longer = goOn(goOn(messages, 'x'.repeat(11_500)), 'short');
  expect((await send(proxy, stub, longer)).told.reason).toBe('compression_due');
  const edited = goOn(goOn(messages, 'not so long'), 'short');
  const sent = await send(proxy, stub, edited);
  expect(sent.told.reason).toBe('checkpoint_reused');
  expect(messagesText(sent.body).startsWith(messagesText(first.body))).toBe(true);
  expect(sent.messages.slice(-4)).toEqual(edited.slice(-4));
});

test('a client that dropped the head of its history begins anew, in the same conversation', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  let messages = dialogue(3, 3000);
  for (let turn = 0; turn < 4; turn += 1) {
    await send(proxy, stub, messages);
    messages = goOn(messages, `a question of its own, number ${turn}`, `and an answer, number ${turn}`);
  }
  const known = await send(proxy, stub, messages);
  const truncated = [SYSTEM, ...messages.slice(6)];
  const sent = await send(proxy, stub, truncated, { more: { max_tokens: 10 } });
  expect(sent.messages).toEqual(truncated);
  expect(sent.told.action).toBe('unchanged');
  const near = [
    ...truncated,
    { role: 'assistant', content: 'x'.repeat(12_200) },
    { role: 'user', content: 'and' },
  ];
  const far = await send(proxy, stub, near, { more: { max_tokens: 10 } });
  expect(far.told.conversation).toBe(known.told.conversation);
});

test('so does one that put a summary of its own in the place of the head', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  let messages = dialogue(3, 3000);
  for (let turn = 0; turn < 4; turn += 1) {
    await send(proxy, stub, messages);
    messages = goOn(messages, `a question of its own, number ${turn}`, `and an answer, number ${turn}`);
  }
  const known = await send(proxy, stub, messages);
  const summary = { role: 'user', content: `what was said: ${'y'.repeat(11_500)}` };
  const sent = await send(proxy, stub, [SYSTEM, summary, ...messages.slice(6)]);
  expect(sent.told.conversation).toBe(known.told.conversation);
  expect(engine.passes.at(-1)?.messages[1]?.content).toBe(summary.content);
});

test('a fork, a retry and a regeneration each get the checkpoint of what they share', async () => {
  const stub = await countingStub();
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  const messages = dialogue(3, 3000);
  const first = await send(proxy, stub, messages);
  const retried = await send(proxy, stub, messages);
  expect(retried.body.equals(first.body)).toBe(true);
  const branches = ['left', 'right', 'left', 'right'];
  const last = new Map<string, Buffer>();
  for (const name of branches) {
    const branch = goOn(goOn(messages, `${name} 1`), `${name} 2`);
    const sent = await send(proxy, stub, branch);
    expect(sent.told.reason).toBe('checkpoint_reused');
    expect(sent.messages.slice(-4)).toEqual(branch.slice(-4));
    expect(messagesText(sent.body).startsWith(messagesText(first.body))).toBe(true);
    if (last.has(name)) expect(sent.body.equals(last.get(name) as Buffer)).toBe(true);
    last.set(name, sent.body);
  }
  expect(engine.passes).toHaveLength(1);
});

test('a branch never gets the checkpoint that another one made meanwhile', async () => {
  const stub = await countingStub();
  let release = () => {};
  const engine = scriptedEngine();
  const proxy = await hosted({ stub, engine });
  // From now on all that the tenant says is recognised.
  await send(proxy, stub, dialogue(3, 3000, 'other'));
  engine.script = async (messages) => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return [SYSTEM, { role: 'user', content: 'left summary' }, messages.at(-1) as Message];
  };
  const shared = dialogue(3, LARGEST_THAT_FITS);
  const known = await send(proxy, stub, shared);
  const left = goOn(shared, 'l'.repeat(1600), 'left answer');
  const edited = shared.map((message, i) => (i === 2 ? { ...message, content: 'edited' } : message));
  const right = goOn(edited, 'right', 'right answer');
  const little = { more: { max_tokens: 10 } };
  const pending = send(proxy, stub, left);
  await expect.poll(() => engine.passes.length).toBe(2);
  const beside = await send(proxy, stub, right, little);
  expect(beside.messages).toEqual(right);
  expect(beside.told.conversation).toMatch(/^[0-9a-f]{32}$/);
  expect(beside.told.conversation).toBe(known.told.conversation);
  release();
  expect((await pending).told.reason).toBe('compression_due');
  const further = goOn(right, 'right again');
  expect((await send(proxy, stub, further, little)).messages).toEqual(further);
});
