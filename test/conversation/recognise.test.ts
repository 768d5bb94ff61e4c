import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import transcripts from '../vectors/transcripts.json' with { type: 'json' };
import { MemoryTree, type Sent } from './support/memory-tree.js';

const user = (content: string): Sent => ({ role: 'user', content });
const assistant = (content: string): Sent => ({ role: 'assistant', content });
const conversation = [user('1'), assistant('2'), user('3'), assistant('4'), user('5')];
const uids = (found: { path: readonly { uid: string }[] }) => found.path.map(({ uid }) => uid);

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

  test('is held against a branch that a fork left behind', () => {
    const tree = new MemoryTree();
    const old = tree.send(conversation);
    tree.send([...conversation.slice(0, 2), user('fork')]);
    const found = tree.send(edited(1, assistant('edited')));
    expect(found.conversationId).toBe(old.conversationId);
    expect(uids(found)).toEqual(uids(old));
  });

  test('is not seen in one message that happens to be said again elsewhere', () => {
    const tree = new MemoryTree();
    tree.send(conversation);
    const found = tree.send([user('1'), assistant('x'), user('y'), assistant('z'), user('3')]);
    expect(found.kind).toBe('fork');
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
