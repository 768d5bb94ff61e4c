import { describe, expect, test } from 'vitest';
import { MemoryTree, type Sent } from './support/memory-tree.js';

const user = (content: string): Sent => ({ role: 'user', content });
const assistant = (content: string): Sent => ({ role: 'assistant', content });
const uids = (found: { path: readonly { uid: string }[] }) => found.path.map(({ uid }) => uid);

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

  test('of what was folded before records all of it', () => {
    for (const steps of [
      [['A\n\nB\n\nb'], ['C']],
      [['A'], ['B\n\nb\n\nC']],
    ] as const) {
      const tree = new MemoryTree();
      const old = uids(tree.send(before.slice(0, 5)));
      tree.send([...before.slice(0, 2), ...steps.flat().map(user)]);
      const found = tree.send([...before.slice(0, 2), user('A\n\nB\n\nb\n\nC'), assistant('4')]);
      expect(found.path[2]).toMatchObject({ uid: old[2], absorbed: [old[3], old[4]] });
    }
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
