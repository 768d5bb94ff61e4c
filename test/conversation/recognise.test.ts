import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runCandidate } from '../../src/conversation/recognise.js';
import transcripts from '../vectors/transcripts.json' with { type: 'json' };
import { chainOf, MemoryTree, type Sent } from './support/memory-tree.js';

const user = (content: string): Sent => ({ role: 'user', content });
const assistant = (content: string): Sent => ({ role: 'assistant', content });
const conversation = [user('1'), assistant('2'), user('3'), assistant('4'), user('5')];
const uids = (found: { path: readonly { uid: string }[] }) => found.path.map(({ uid }) => uid);
const UID = 'a'.repeat(32);

describe('a conversation', () => {
  test('is the same as it grows, and adds only what is new (stephenschoettler/hermes-lcm#599)', () => {
    const tree = new MemoryTree();
    const first = tree.send(conversation.slice(0, 1));
    expect(first.kind).toBe('new');
    const grown = tree.send(conversation.slice(0, 3));
    expect(grown).toMatchObject({ kind: 'known', conversationId: first.conversationId });
    expect(grown.fresh).toHaveLength(2);
    expect(uids(tree.send(conversation)).slice(0, 3)).toEqual(uids(grown));
    expect(tree.nodes).toHaveLength(5);
    expect(new Set(tree.nodes.map(({ uid }) => uid)).size).toBe(5);
    expect(tree.nodes.map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 4]);
    expect(tree.nodes.map(({ parent }) => parent)).toEqual([
      undefined,
      ...tree.nodes.slice(0, 4).map((n) => n.hash),
    ]);
  });

  test('gains nothing by a retry, or by one that is shorter (Martian-Engineering/lossless-claw#611)', () => {
    const tree = new MemoryTree();
    const first = tree.send(conversation);
    for (const again of [conversation, conversation.slice(0, 3)]) {
      const retry = tree.send(again);
      expect(retry).toMatchObject({ kind: 'known', conversationId: first.conversationId, fresh: [] });
    }
  });

  test('tells legitimate repeats apart (Martian-Engineering/lossless-claw#1158)', () => {
    const found = new MemoryTree().send([
      user('go on'),
      assistant('x'),
      user('go on'),
      assistant('x'),
      user('go on'),
    ]);
    expect(new Set(uids(found)).size).toBe(5);
  });

  test('is known whatever its client drops, and whatever its head says', () => {
    const tree = new MemoryTree();
    const { conversationId } = tree.send([{ role: 'system', content: 'Tuesday' }, ...conversation]);
    const varied = conversation.map(({ role, content }) => ({
      content: [{ type: 'text', text: content }],
      role,
    }));
    expect(tree.send([{ role: 'system', content: 'Wednesday' }, ...varied])).toMatchObject({
      conversationId,
      fresh: [],
    });
  });

  test('is a fork where it leaves another that went on', () => {
    const tree = new MemoryTree();
    const old = tree.send(conversation);
    const fork = tree.send([...conversation.slice(0, 2), user('other')]);
    expect(fork.kind).toBe('fork');
    expect(fork.conversationId).not.toBe(old.conversationId);
    expect(fork.path.map((node) => node.conversation)).toEqual([
      old.conversationId,
      old.conversationId,
      fork.conversationId,
    ]);
    expect(uids(fork).slice(0, 2)).toEqual(uids(old).slice(0, 2));
    const longer = tree.send([...conversation.slice(0, 2), user('other'), assistant('x'), user('y')]);
    expect(longer).toMatchObject({ kind: 'known', conversationId: fork.conversationId });
    expect(tree.send([...conversation, assistant('6'), user('7')])).toMatchObject({
      kind: 'known',
      conversationId: old.conversationId,
    });
  });

  test('is no fork where only another conversation went on from there', () => {
    const tree = new MemoryTree();
    const old = tree.send(conversation.slice(0, 1));
    tree.send([user('1'), assistant('2'), user('3')], 'named');
    const found = tree.send([user('1'), assistant('b')]);
    expect(found).toMatchObject({ kind: 'known', conversationId: old.conversationId });
  });

  test('goes by the id that its client gives it', () => {
    const tree = new MemoryTree();
    const a = tree.send(conversation, 'a');
    const b = tree.send(conversation, 'b');
    expect(b.kind).toBe('fork');
    expect(b.conversationId).not.toBe(a.conversationId);
    expect(tree.send([...conversation.slice(0, 2), user('x')], 'a')).toMatchObject({
      kind: 'known',
      conversationId: a.conversationId,
    });
    expect(tree.send([user('all new')], 'a')).toMatchObject({
      kind: 'continued',
      conversationId: a.conversationId,
    });
    expect(tree.send([user('nothing')], 'c').kind).toBe('new');
  });
});

describe('an edit', () => {
  const edited = (place: number, ...by: Sent[]) => conversation.toSpliced(place, 1, ...by);

  test('keeps the conversation and the uids of what it changed and of what follows', () => {
    for (const place of [1, 2, 3]) {
      const tree = new MemoryTree();
      const old = tree.send(conversation);
      const found = tree.send(edited(place, { ...conversation[place], content: 'edited' }));
      expect(found).toMatchObject({ kind: 'known', conversationId: old.conversationId });
      expect(uids(found)).toEqual(uids(old));
      expect(found.fresh).toHaveLength(5 - place);
    }
  });

  test('may go on behind what is known', () => {
    const tree = new MemoryTree();
    const old = tree.send(conversation);
    const found = tree.send([...edited(1, assistant('edited')), assistant('6'), user('7')]);
    expect(found.conversationId).toBe(old.conversationId);
    expect(uids(found).slice(0, 5)).toEqual(uids(old));
    expect(uids(old)).not.toContain(uids(found)[5]);
  });

  test('that leaves messages out, or puts some between, names those that stayed', () => {
    const long = [...conversation, assistant('6'), user('7')];
    for (const added of [[], [user('new'), assistant('new')]]) {
      const tree = new MemoryTree();
      const old = uids(tree.send(long));
      const found = tree.send(long.toSpliced(1, 3, ...added));
      expect(found.kind).toBe('known');
      expect(uids(found)).toEqual(old.toSpliced(1, 3, ...uids(found).slice(1, 1 + added.length)));
      expect(found.fresh.slice(0, added.length).every(({ uid }) => !old.includes(uid))).toBe(true);
    }
  });

  test('in two places is held against the branch that it repeats most of', () => {
    const tree = new MemoryTree();
    const old = tree.send(conversation);
    tree.send([...conversation.slice(0, 2), user('fork'), assistant('4'), user('another')]);
    const found = tree.send([user('1'), assistant('2'), user('3!'), assistant('4'), user('5')]);
    expect(found.conversationId).toBe(old.conversationId);
    expect(uids(found)).toEqual(uids(old));
  });
});

describe('a fold of known messages', () => {
  const before = [user('1'), assistant('2'), user('A  '), user('B\n\nb'), user('C'), assistant('4')];

  test.each([
    ['A\n\nB\n\nb', [2, 3]],
    ['A  \nB\n\nb\n', [2, 3]],
    ['A\n\nB\n\nb\n\nC', [2, 3, 4]],
  ])('keeps the first uid and records the others: %j', (text, places) => {
    const tree = new MemoryTree();
    const old = tree.send(before);
    const rest = before.slice((places.at(-1) as number) + 1);
    const found = tree.send([...before.slice(0, 2), user(text), ...rest, user('5')]);
    const [first, ...others] = places.map((place) => uids(old)[place]);
    expect(found).toMatchObject({ kind: 'known', conversationId: old.conversationId });
    expect(found.path[2]).toMatchObject({ uid: first, absorbed: others });
    expect(uids(found).slice(3, -1)).toEqual(uids(old).slice((places.at(-1) as number) + 1));
  });

  test('of an assistant keeps the calls of its last', () => {
    const tree = new MemoryTree();
    const calls = [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const result = { role: 'tool', tool_call_id: 'c1', content: 'x' };
    const old = tree.send([user('1'), assistant('A'), { ...assistant('B'), tool_calls: calls }, result]);
    const found = tree.send([user('1'), { ...assistant('A\n\nB'), tool_calls: calls }, result]);
    expect(found.path[1]).toMatchObject({
      uid: uids(old)[1],
      absorbed: [uids(old)[2]],
      toolCallUids: old.path[2]?.toolCallUids,
    });
    expect(found.path[2]).toMatchObject({ uid: uids(old)[3], toolCallUid: old.path[3]?.toolCallUid });
  });

  test('is not seen in a text that holds something else', () => {
    const tree = new MemoryTree();
    tree.send(before);
    const found = tree.send([...before.slice(0, 2), user('A\n\nB\n\nb and more')]);
    expect(found.kind).toBe('fork');
    expect(found.path[2]?.absorbed).toEqual([]);
  });

  test('is looked for in a huge text without end', () => {
    const tree = new MemoryTree();
    tree.send(before);
    const found = tree.send([...before.slice(0, 2), user('A\n'.repeat(200_000))]);
    expect(found.kind).toBe('fork');
  });
});

describe('a client that dropped its head', () => {
  const long = Array.from({ length: 20 }, (_, i) =>
    i % 2 ? assistant(`answer ${i}`) : user(`question ${i}`),
  );

  test.each([
    ['nothing in its place', []],
    ['a summary in its place', [user('summary of it all')]],
    ['a summary and its answer', [user('summary of it all'), assistant('I see')]],
  ])('goes on with the conversation: %s', (_, instead) => {
    const tree = new MemoryTree();
    const old = tree.send(long.slice(0, 19));
    const found = tree.send([...instead, ...long.slice(8), user('new')]);
    expect(found).toMatchObject({ kind: 'continued', conversationId: old.conversationId });
    expect(uids(found).slice(instead.length, instead.length + 11)).toEqual(uids(old).slice(8));
    expect(found.path[0]?.parent).toBeUndefined();
    expect(found.fresh).toHaveLength(found.path.length);
    const next = tree.send([...instead, ...long.slice(8), user('new'), assistant('x'), user('y')]);
    expect(next).toMatchObject({ kind: 'known', conversationId: old.conversationId });
  });

  test('and repeats a request that failed', () => {
    const tree = new MemoryTree();
    const old = tree.send(long.slice(0, 5));
    expect(tree.send(long.slice(2, 5))).toMatchObject({
      kind: 'continued',
      conversationId: old.conversationId,
    });
  });

  test('is not found by what is in two places', () => {
    const tree = new MemoryTree();
    tree.send([user('a'), ...long.slice(0, 6)]);
    tree.send([user('b'), ...long.slice(0, 6)]);
    expect(tree.send([...long.slice(0, 5), user('x')]).kind).toBe('new');
  });

  test('is looked for by a run that tells something', () => {
    const candidate = (messages: readonly Sent[], skip?: number) =>
      runCandidate(chainOf(messages), skip).length;
    expect(candidate([])).toBe(0);
    expect(candidate([user('1')])).toBe(0);
    expect(candidate([user('1'), assistant('2')])).toBe(2);
    expect(candidate([assistant('1'), { role: 'tool', content: 'x' }])).toBe(0);
    expect(candidate([assistant('x'.repeat(200)), { role: 'tool', content: 'x' }])).toBe(2);
    expect(candidate(long)).toBe(8);
    expect(candidate(long.slice(0, 5))).toBe(3);
    expect(candidate([user('?'), user('a'), assistant('b'), assistant('c')], 1)).toBe(0);
  });
});

describe('uids', () => {
  test('that a client sends are kept, where they look like one', () => {
    const tree = new MemoryTree();
    const other = 'b'.repeat(32);
    const found = tree.send([
      { ...user('1'), message_uid: UID, _absorbed_message_uids: [other] },
      { ...assistant('2'), message_uid: 'A'.repeat(32), _absorbed_message_uids: ['x'] },
      { ...user('3'), message_uid: 7 },
    ]);
    expect(found.path[0]).toMatchObject({ uid: UID, absorbed: [other] });
    expect(found.path[1]?.uid).toMatch(/^0+\d$/);
    expect(found.path[1]?.absorbed).toEqual([]);
    expect(tree.send([user('1')]).path[0]?.uid).toBe(UID);
  });

  const call = (id: unknown) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  const calls = (...ids: unknown[]): Sent => ({ role: 'assistant', tool_calls: ids.map(call) });
  const result = (id: unknown, content = 'x'): Sent => ({ role: 'tool', tool_call_id: id, content });

  test('of calls are given per occurrence (Martian-Engineering/lossless-claw#1090)', () => {
    const { path } = new MemoryTree().send([
      user('1'),
      calls('exec:101', 'c2'),
      result('c2'),
      result('exec:101'),
      calls('exec:101', 'exec:101'),
      result('exec:101', 'a'),
      result('exec:101', 'b'),
      result('c2'),
    ]);
    const [, first, c2, exec, second, a, b, orphan] = path;
    expect(first?.toolCallUids).toEqual({ 'exec:101': exec?.toolCallUid, c2: c2?.toolCallUid });
    expect(second?.toolCallUids).toEqual({ 'exec:101': a?.toolCallUid });
    expect(b?.toolCallUid).toBe(a?.toolCallUid);
    expect(a?.toolCallUid).not.toBe(exec?.toolCallUid);
    expect(orphan?.toolCallUid).toBeUndefined();
  });

  test('of calls are those of the call that is known already', () => {
    const tree = new MemoryTree();
    const { path } = tree.send([user('1'), calls('c1', '__proto__')]);
    const longer = tree.send([
      user('1'),
      calls('c1', '__proto__'),
      result('c1'),
      result('__proto__'),
      result('constructor'),
    ]);
    const uidsOfCalls = Object.values(path[1]?.toolCallUids ?? {});
    expect(uidsOfCalls).toHaveLength(2);
    expect(longer.path.slice(2).map(({ toolCallUid }) => toolCallUid)).toEqual([...uidsOfCalls, undefined]);
  });

  test('of calls that a client sends are kept, a list in the order of the results', () => {
    const list = ['c'.repeat(32), 'd'.repeat(32)];
    const { path } = new MemoryTree().send([
      { ...calls('c1', 'c2', 'c1'), _tool_call_uids: { c1: list, c2: 'nonsense' } },
      result('c1'),
      result('c2'),
      result('c1'),
      { ...result('c9'), _tool_call_uid: UID },
    ]);
    expect(path[0]?.toolCallUids).toEqual({ c1: list, c2: path[2]?.toolCallUid });
    expect([path[1]?.toolCallUid, path[3]?.toolCallUid]).toEqual(list);
    expect(path[4]?.toolCallUid).toBe(UID);
  });

  test('are given to whatever a client calls a message', () => {
    const odd = [null, 1, 'x', [], {}, { role: 'assistant', tool_calls: [null, {}, call(7)] }, result(null)];
    const { path } = new MemoryTree().send(odd as unknown as Sent[]);
    expect(path).toHaveLength(7);
    expect(path.every(({ uid, toolCallUids }) => uid.length === 32 && toolCallUids === undefined)).toBe(true);
  });
});

test.each(transcripts.cases)('knows "$name" again as it grows', ({ messages, appended }) => {
  const tree = new MemoryTree();
  const all = [...messages, ...appended] as Sent[];
  const ids = new Set<string>();
  for (let count = 1; count <= all.length; count += 1) {
    const { conversationId, path } = tree.send(all.slice(0, count));
    if (path.length > 0) ids.add(conversationId);
  }
  const { path } = tree.send(all);
  expect(ids.size).toBeLessThanOrEqual(1);
  expect(tree.nodes).toEqual(path);
});

test('gives every message one identity, whatever its client does', () => {
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant'),
    content: fc.constantFrom('a', 'b', 'c'),
  });
  fc.assert(
    fc.property(fc.array(fc.array(message, { minLength: 1, maxLength: 8 }), { maxLength: 8 }), (requests) => {
      const tree = new MemoryTree();
      for (const messages of requests) {
        const { path, fresh } = tree.send(messages);
        expect(path).toHaveLength(messages.length);
        expect(new Set(uids({ path })).size).toBe(path.length);
        expect(fresh).toEqual(path.slice(path.length - fresh.length));
        expect(tree.send(messages)).toMatchObject({ fresh: [], path });
      }
      expect(new Set(tree.nodes.map(({ hash }) => hash)).size).toBe(tree.nodes.length);
    }),
  );
});
