import { describe, expect, test } from 'vitest';
import { MemoryTree, type Sent } from './support/memory-tree.js';

const user = (content: string): Sent => ({ role: 'user', content });
const assistant = (content: string): Sent => ({ role: 'assistant', content });
const UID = 'a'.repeat(32);

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
