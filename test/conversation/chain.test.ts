import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RawObject } from '../../src/body/raw-object.js';
import { contentHash } from '../../src/conversation/canonical.js';
import { type Chain, ChainReader } from '../../src/conversation/chain.js';
import { chainHash, chainRoot } from '../../src/conversation/read-chain.js';
import transcripts from '../vectors/transcripts.json' with { type: 'json' };

const PADDING = 'word "x" é\n'.repeat(300);
const request = (text: string): RawObject => RawObject.parse(Buffer.from(text)) as RawObject;
const chat = (messages: readonly unknown[], before = '', after = ''): RawObject =>
  request(`{${before}"messages":${JSON.stringify(messages)}${after}}`);
const read = (object: RawObject, tenant = 't'): Chain => new ChainReader().read(tenant, object);
const user = (content: string) => ({ role: 'user', content });
const system = (content: string) => ({ role: 'system', content });
const hashes = (chain: Chain): string[] => chain.messages.map(({ hash }) => hash);

test('names every message by what it says and by all before it', () => {
  const messages = [user('a'), user('a'), { role: 'assistant', content: 'b' }];
  const object = chat(messages);
  const chain = read(object);
  const [a, again, b] = chain.messages;
  expect(chain.messages.map(({ content }) => content)).toEqual(messages.map(contentHash));
  expect(a?.hash).toBe(chainHash(chainRoot('t'), contentHash(user('a'))));
  expect(again?.hash).toBe(chainHash(a?.hash as string, contentHash(user('a'))));
  expect(new Set([a?.hash, again?.hash, b?.hash]).size).toBe(3);
  expect(chain.messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant']);
  expect(
    chain.messages.map(({ span }) => JSON.parse(object.bytes.toString('utf8', span.start, span.end))),
  ).toEqual(messages);
});

test('leaves the leading system and developer messages out (ranxianglei/billion-context#1148)', () => {
  const today = read(
    chat([system('Tuesday'), { role: 'developer', content: 'd' }, user('a'), system('late')]),
  );
  const tomorrow = read(chat([system('Wednesday'), user('a'), system('late')]));
  expect(today.headRows).toHaveLength(2);
  expect(today.messages).toHaveLength(2);
  expect(hashes(today)).toEqual(hashes(tomorrow));
});

test('gives no tenant the hashes of another, not even through what was just read', () => {
  const reader = new ChainReader();
  const object = chat([user(PADDING), user('b')]);
  const one = hashes(reader.read('one', object));
  expect(hashes(reader.read('two', object))).toEqual(hashes(read(object, 'two')));
  expect(one.some((hash) => hashes(reader.read('two', object)).includes(hash))).toBe(false);
});

test('reads the last of several messages members', () => {
  expect(read(request('{"messages":[{"role":"user"}],"messages":[{"role":"user","content":"a"}]}'))).toEqual(
    read(request('{"messages":[{"role":"xxxx"}],"messages":[{"role":"user","content":"a"}]}')),
  );
});

test.each(['{}', '{"messages":null}', '{"messages":{}}', '{"messages":[ ]}', '{"messages":"[1]"}'])(
  'finds nothing in %s',
  (text) => expect(read(request(text))).toEqual({ headRows: [], messages: [] }),
);

test('takes elements that are no messages', () => {
  const chain = read(request('{"messages":[ null , 1,"x" ,[{}],{"role":7},{"role":"system"}]}'));
  expect(chain.messages.map(({ role }) => role)).toEqual([...Array(5).fill(undefined), 'system']);
  expect(new Set(hashes(chain)).size).toBe(6);
});

describe('reads like a first reading', () => {
  const element = fc.oneof(
    fc.constantFrom(
      user(PADDING),
      user('a'),
      user('b'),
      { role: 'assistant', content: 'c' },
      system('s'),
      1,
      12,
      null,
    ),
    fc.record({ role: fc.constantFrom('user', 'system', 'tool'), content: fc.string() }),
  );
  const edit = fc.record({
    at: fc.nat(40),
    remove: fc.nat(2),
    insert: fc.array(element, { maxLength: 3 }),
    before: fc.constantFrom('', '"model":"m",', '"model":"longer",'),
    after: fc.constantFrom('', ',"stream":true'),
    tenant: fc.constantFrom('t', 'u'),
  });

  test('whatever grew, was edited, or moved', () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 20 }), fc.array(edit, { maxLength: 8 }), (first, edits) => {
        const reader = new ChainReader();
        const messages = [user(PADDING), ...first];
        for (const { at, remove, insert, before, after, tenant } of edits) {
          messages.splice(Math.min(at, messages.length), remove, ...insert);
          const object = chat(messages, before, after);
          expect(reader.read(tenant, object)).toEqual(read(object, tenant));
        }
      }),
    );
  });

  test('a head that changes, comes or goes', () => {
    const reader = new ChainReader();
    const tail = [user(PADDING), user('b')];
    for (const head of [[system('a')], [system('b')], [], [system('a'), system('b')], [system('a')]]) {
      const object = chat([...head, ...tail]);
      expect(reader.read('t', object)).toEqual(read(object));
    }
  });

  test('an element that goes on', () => {
    const reader = new ChainReader();
    for (const end of ['1]', '12]', '12 ]', '1,2]', 'true]']) {
      const object = request(`{"messages":[${JSON.stringify(user(PADDING))},${end}}`);
      expect(reader.read('t', object)).toEqual(read(object));
    }
  });

  test.each(transcripts.cases)('the conversation "$name", message by message', ({ messages, appended }) => {
    const reader = new ChainReader();
    const all = [...messages, ...appended];
    for (let count = 0; count <= all.length; count += 1) {
      const object = chat(all.slice(0, count), `"padding":${JSON.stringify(PADDING)},`);
      expect(reader.read('t', object)).toEqual(read(object));
    }
  });
});

test('keeps a bounded memory of recent bodies', () => {
  const reader = new ChainReader();
  for (let i = 0; i < 100; i += 1) reader.read('t', chat([user(`${i} ${PADDING}`)]));
  expect(reader.bytesKept).toBeLessThan(65 * (Buffer.byteLength(JSON.stringify(PADDING)) + 100));
  const large = 'x'.repeat(3 * 1024 * 1024);
  for (let i = 0; i < 5; i += 1) reader.read('t', chat([user(`${i}${large}`)]));
  expect(reader.bytesKept).toBeLessThanOrEqual(8 * 1024 * 1024);
  reader.read('t', chat([user('x'.repeat(9 * 1024 * 1024))]));
  expect(reader.bytesKept).toBeLessThanOrEqual(8 * 1024 * 1024);
});

test('keeps one body of a conversation that grows', () => {
  const reader = new ChainReader();
  const messages = [user(PADDING)];
  for (let i = 0; i < 20; i += 1) {
    messages.push(user(String(i)));
    reader.read('t', chat(messages));
  }
  expect(reader.bytesKept).toBe(chat(messages).bytes.length);
});
