import { beforeEach, describe, expect, test } from 'vitest';
import type { ConversationStore } from '../../src/store/conversation-store.js';
import { chain, checkpoint, commitOf, conversation, inProcess, query } from './support/material.js';

const owner = conversation('a');
const path = chain(owner, ['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6']);
const [m0, m1, m2, m3, m4] = path;
let store: ConversationStore;

beforeEach(() => {
  store = inProcess();
});

describe('a path', () => {
  test.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'is known as far as its first %i messages were committed',
    async (known) => {
      await store.commit(commitOf(owner, path.slice(0, known)));
      const loaded = await store.loadPath(query(path));
      expect(loaded.nodes).toEqual(path.slice(0, known));
      expect(loaded.conversation).toEqual(known === 0 ? undefined : owner);
      expect(loaded.others).toEqual([]);
    },
  );

  test('of thousands of messages comes back whole', async () => {
    const long = chain(
      owner,
      Array.from({ length: 4000 }, (_, place) => `long ${place}`),
    );
    await store.commit(commitOf(owner, long));
    expect((await store.loadPath(query(long))).nodes).toEqual(long);
  });

  test('keeps nodes as they were first committed', async () => {
    await store.commit(commitOf(owner, path));
    const later = conversation('later');
    const again = chain(later, ['m0', 'm1', 'm2', 'new']).map((node) => ({ ...node, uid: 'f'.repeat(32) }));
    await store.commit(commitOf(later, again));
    const loaded = await store.loadPath(query(again));
    expect(loaded.nodes).toEqual([m0, m1, m2, again[3]]);
    expect(loaded.conversation).toEqual(later);
  });

  test('is not committed below a message that is not known, and nothing of that commit is', async () => {
    const lost = commitOf(owner, path.slice(3), { engineState: new Map([['k', '1']]) });
    await expect(store.commit(lost)).rejects.toThrow('does not know');
    expect(await store.listConversations()).toEqual([]);
    expect(await store.engineState(owner.id, 'k')).toBeUndefined();
  });
});

describe('the conversation of a path', () => {
  const named = conversation('named', 't', { explicitId: 'session 1' });

  test('is the one of the explicit id where there is one', async () => {
    await store.commit(commitOf(owner, path));
    await store.commit(commitOf(named, []));
    const ask = (explicitId: string) => store.loadPath(query(path, { explicitId }));
    expect((await ask('session 1')).conversation).toEqual(named);
    expect((await ask('session 2')).conversation).toEqual(owner);
    expect((await store.loadPath(query([], { explicitId: 'session 1' }))).conversation).toEqual(named);
  });

  test('is the older one where two processes made one each for the same explicit id', async () => {
    const rival = conversation('rival', 't', { explicitId: 'session 1', created: 1_001, lastSeen: 9_000 });
    await store.commit(commitOf(rival, []));
    await store.commit(commitOf(named, []));
    expect((await store.loadPath(query([], { explicitId: 'session 1' }))).conversation).toEqual(named);
  });

  test('is updated by each commit, but for its beginning', async () => {
    await store.commit(commitOf(owner, path));
    const later = { ...owner, created: 7, lastSeen: 5_000, messages: 9, promptTokens: 7, compressions: 2 };
    await store.commit(commitOf(later, []));
    expect((await store.conversation(owner.id))?.conversation).toEqual({ ...later, created: owner.created });
  });
});

describe('the checkpoint of a path', () => {
  test('is the deepest one on it for the model and the engine', async () => {
    const at = (end: typeof m0, rest = {}) =>
      store.commit(commitOf(owner, path, { checkpoint: checkpoint(end, rest) }));
    await at(m1 as typeof m0);
    await at(m3 as typeof m0);
    await at(m4 as typeof m0, { model: 'model-b' });
    await at(m4 as typeof m0, { engine: 'lcm' });
    const ends = async (length: number, rest = {}) =>
      (await store.loadPath(query(path.slice(0, length), rest))).checkpoint?.end;
    expect(await ends(7)).toBe(m3?.hash);
    expect(await ends(3)).toBe(m1?.hash);
    expect(await ends(1)).toBeUndefined();
    expect(await ends(7, { model: 'model-b' })).toBe(m4?.hash);
    expect(await ends(7, { model: 'model-b', engine: 'lcm' })).toBeUndefined();
  });

  test('replaces the former one of the same end, model and engine', async () => {
    const first = checkpoint(m3 ?? m0);
    const second = { ...first, tokensAfter: 50, created: 1_600 };
    await store.commit(commitOf(owner, path, { checkpoint: first }));
    await store.commit(commitOf(owner, [], { checkpoint: second }));
    expect((await store.loadPath(query(path))).checkpoint).toEqual(second);
    expect((await store.conversation(owner.id))?.checkpoints).toEqual([
      { messages: 4, tokensBefore: 900, tokensAfter: 50, created: 1_600 },
    ]);
  });
});

describe('what follows the deepest known node on other paths', () => {
  test('comes branch by branch, the newest first, each from its beginning', async () => {
    await store.commit(commitOf(owner, path));
    const fork = chain(owner, ['x3', 'x4'], m2);
    await store.commit(commitOf(owner, fork));
    const edited = [...path.slice(0, 3), ...chain(owner, ['edited'], m2)];
    const { nodes, others } = await store.loadPath(query(edited));
    expect(nodes).toEqual(path.slice(0, 3));
    expect(others).toEqual([...fork, ...path.slice(3)]);
  });

  test('is cut at 64 nodes', async () => {
    const long = chain(
      owner,
      Array.from({ length: 200 }, (_, place) => `long ${place}`),
    );
    await store.commit(commitOf(owner, long));
    expect((await store.loadPath(query(long.slice(0, 10)))).others).toEqual(long.slice(10, 74));
  });
});
