import { describe, expect, test } from 'vitest';
import { runCandidate } from '../../src/conversation/recognise.js';
import { chainOf, MemoryTree, type Sent } from './support/memory-tree.js';

const user = (content: string): Sent => ({ role: 'user', content });
const assistant = (content: string): Sent => ({ role: 'assistant', content });
const uids = (found: { path: readonly { uid: string }[] }) => found.path.map(({ uid }) => uid);

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
