import { expect, test } from 'vitest';
import { type ConversationStore, StoreError } from '../../src/store/conversation-store.js';
import { openConversationStore } from '../../src/store/open-conversation-store.js';
import {
  chain,
  checkpoint,
  commitOf,
  conversation,
  freshFolder,
  inProcess,
  query,
  row,
} from './support/material.js';

const SURROGATES = '\ud83d alone, \udc00\u0000 and \u2028';
const BYTES = [
  Buffer.from('{"content":"\\ud83d"}'),
  Buffer.from([0, 0xff, 0xfe, 0xed, 0xa0, 0x80, 0]),
  Buffer.alloc(0),
  Buffer.from('é'.repeat(50_000)),
];
const owner = conversation('a', `tenant ${SURROGATES}`, { explicitId: `id ${SURROGATES}` });
const bare = chain(owner, ['m0', 'm1', 'm2']);
const nodes = [
  bare[0],
  { ...bare[1], toolCallUids: { [SURROGATES]: 'u1', ['__proto__']: ['u2', 'u3'] }, absorbed: ['b1', 'b2'] },
  { ...bare[2], toolCallUid: 'u1' },
] as [(typeof bare)[0], (typeof bare)[0], (typeof bare)[0]];
const rows = [
  ...BYTES.map((bytes) => row(bytes)),
  row('x', { mark: `{"text":"${SURROGATES}"}`, absorbed: ['c'], toolCallUids: { a: ['1', '2'] } }),
  row('y', { toolCallUid: 'u9' }),
];
const written = checkpoint(nodes[1], { model: SURROGATES, engine: 'lcm', rows });

/** Writes all there is to write. */
async function fill(store: ConversationStore): Promise<void> {
  const engineState = new Map([
    ['a', '{"n":1}'],
    [SURROGATES, '"b"'],
  ]);
  await store.commit(commitOf(owner, nodes, { checkpoint: written, engineState }));
  await store.saveHiddenRound(owner.tenant, owner.id, { visible: 'v1', rows });
  await store.saveHiddenRound(owner.tenant, owner.id, { visible: 'v2', rows: [] });
}

async function readBack(store: ConversationStore): Promise<void> {
  const ask = query(nodes, {
    tenant: owner.tenant,
    model: SURROGATES,
    engine: 'lcm',
    explicitId: owner.explicitId,
  });
  expect(await store.loadPath(ask)).toStrictEqual({
    nodes,
    checkpoint: written,
    conversation: owner,
    others: [],
  });
  expect(await store.engineState(owner.id, 'a')).toBe('{"n":1}');
  expect(await store.engineState(owner.id, SURROGATES)).toBe('"b"');
  expect(await store.engineState(owner.id, 'none')).toBeUndefined();
  expect(await store.loadHiddenRounds(owner.tenant, ['v2', 'none', 'v1'])).toStrictEqual([
    { visible: 'v2', rows: [] },
    { visible: 'v1', rows },
  ]);
  expect(await store.listConversations()).toEqual([owner]);
}

test('what was written comes back byte for byte, lone surrogates and zeros too', async () => {
  const store = inProcess();
  await fill(store);
  await readBack(store);
});

test('through the thread, and from the file by the next process, it does too', async () => {
  const folder = freshFolder();
  const first = await openConversationStore({ folder });
  await fill(first);
  await readBack(first);
  const key = await first.secret('tenants');
  await first.close();
  const second = await openConversationStore({ folder });
  await readBack(second);
  expect(await second.secret('tenants')).toEqual(key);
  await second.close();
});

test('the rows that were handed over can still be read by who handed them over', async () => {
  const store = await openConversationStore({ folder: ':memory:' });
  await fill(store);
  expect(rows[0]?.bytes).toEqual(Buffer.from('{"content":"\\ud83d"}'));
  expect(rows[3]?.bytes).toHaveLength(100_000);
  await store.close();
});

test('a commit replaces what the engine set before under the same key', async () => {
  const store = inProcess();
  await store.commit(commitOf(owner, [], { engineState: new Map([['a', '1']]) }));
  await store.commit(commitOf(owner, [], { engineState: new Map([['a', '2']]) }));
  expect(await store.engineState(owner.id, 'a')).toBe('2');
});

test('a secret has 32 bytes, is the same each time, and another one for each name', async () => {
  const store = inProcess();
  const secret = await store.secret('a');
  expect(secret).toHaveLength(32);
  expect(await store.secret('a')).toEqual(secret);
  expect(await store.secret('b')).not.toEqual(secret);
});

test('conversations are listed by when they were last seen, at most 1000', async () => {
  const store = inProcess();
  for (let at = 0; at < 1010; at += 1) {
    await store.commit(commitOf(conversation(`c${at}`, 't', { lastSeen: (at * 7) % 1010 }), []));
  }
  const listed = await store.listConversations();
  expect(listed.map(({ lastSeen }) => lastSeen)).toEqual(Array.from({ length: 1000 }, (_, at) => 1009 - at));
});

test('close waits for what was asked before; what is asked afterwards is refused', async () => {
  const folder = freshFolder();
  const store = await openConversationStore({ folder });
  const commits = Array.from({ length: 20 }, (_, at) => store.commit(commitOf(conversation(`c${at}`), [])));
  await Promise.all([store.close(), ...commits, store.close()]);
  await expect(store.listConversations()).rejects.toThrow(StoreError);
  const again = await openConversationStore({ folder });
  expect(await again.listConversations()).toHaveLength(20);
  await again.close();
});

test('errors carry nothing of what was being written', async () => {
  const store = inProcess();
  const refused = commitOf(conversation('x', 't', { messages: 'private words' as unknown as number }), []);
  const error: unknown = await store.commit(refused).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StoreError);
  expect(String(error)).toBe('StoreError: the store failed: SQLITE_CONSTRAINT_DATATYPE');
});
