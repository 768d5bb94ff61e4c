import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RawObject } from '../../src/body/raw-object.js';
import { ChainReader } from '../../src/conversation/chain.js';
import type { Message } from '../../src/conversation/message.js';
import { settle } from '../../src/conversation/settle.js';
import { buildView, renderRequest, type ViewRow, viewMessages } from '../../src/conversation/view.js';
import type { Checkpoint, NodeRecord } from '../../src/store/conversation-store.js';

/** Node.js hands out shorter buffers from a pool of 8 or, from version 24 on, 64 KiB. */
const LONGER_THAN_A_POOL = 100_000;
const SPELLED = '{"content":1.0,"big":9007199254740993,"role":"user"}';
const json = (role: string, content: unknown): string => JSON.stringify({ role, content });

function open(messages: readonly string[], checkpoint?: Checkpoint, uids: readonly string[] = []) {
  const request = RawObject.parse(Buffer.from(`{"messages":[${messages.join(',')}]}`)) as RawObject;
  const chain = new ChainReader().read('t', request);
  const nodes = uids.map(
    (uid): NodeRecord => ({
      hash: '',
      parent: undefined,
      content: '',
      depth: 0,
      conversation: 'c',
      uid,
      absorbed: [`${uid} absorbed`],
      toolCallUids: undefined,
      toolCallUid: undefined,
    }),
  );
  return { request, rows: buildView({ request, chain, nodes, checkpoint }) };
}

function pass(rows: readonly ViewRow[], engine: (messages: Message[]) => Message[]) {
  let minted = 0;
  return settle(rows, viewMessages(rows), engine(viewMessages(rows)), () => {
    minted += 1;
    return `minted ${minted}`;
  });
}

const texts = (rows: readonly ViewRow[]): string[] => rows.map(({ bytes }) => bytes.toString());
const summary: Message = { role: 'user', content: 'summary' };
const conversation = [
  json('system', 's'),
  SPELLED,
  json('assistant', 'b'),
  json('user', 'c'),
  json('assistant', 'd'),
];
const UIDS = ['u1', 'u2', 'u3', 'u4'];

function stored(messages: number, rows: readonly ViewRow[]): Checkpoint {
  const rest = { end: 'h', model: 'm', engine: 'e', conversation: 'c', tokensBefore: 9, tokensAfter: 3 };
  return { ...rest, messages, rows: rows.map((row) => ({ ...row, uid: row.uid as string })), created: 0 };
}

describe('a checkpoint', () => {
  test('is what stands before the last messages that stayed', () => {
    const { rows, request } = open(conversation, undefined, UIDS);
    const settled = pass(rows, ([system, , , ...tail]) => [system as Message, summary, ...tail]);
    expect(settled.messages).toBe(2);
    expect(settled.headChanged).toBe(false);
    expect(texts(settled.checkpointRows)).toEqual([json('user', 'summary')]);
    expect(settled.checkpointRows[0]).toMatchObject({ uid: 'minted 1', absorbed: [], origin: 'checkpoint' });
    expect(renderRequest(request, settled.rows).toString()).toBe(
      `{"messages":[${[conversation[0], json('user', 'summary'), ...conversation.slice(3)].join(',')}]}`,
    );
  });

  test('keeps the bytes of messages that stayed, and their bookkeeping', () => {
    const { rows } = open(conversation, undefined, UIDS);
    const settled = pass(rows, ([system, a, , c, d]) => [system, a, summary, c, d] as Message[]);
    expect(texts(settled.checkpointRows)).toEqual([SPELLED, json('user', 'summary')]);
    expect(settled.checkpointRows[0]).toMatchObject({ uid: 'u1', absorbed: ['u1 absorbed'] });
    expect(settled.messages).toBe(2);
  });

  test('knows messages again that came back without bookkeeping', () => {
    const { rows } = open(conversation, undefined, UIDS);
    const bare = ({ role, content, big }: Message): Message =>
      big ? { role, content, big } : { role, content };
    const settled = pass(rows, ([system, a, , c, d]) =>
      [system, a, summary, c, d].map((m) => bare(m as Message)),
    );
    expect(texts(settled.checkpointRows)[0]).toBe(SPELLED);
    expect(settled.checkpointRows[0]).toMatchObject({ uid: 'u1', absorbed: ['u1 absorbed'] });
    expect(settled.messages).toBe(2);
  });

  test('keeps the uids and marks that the engine set, and sends neither', () => {
    const { rows } = open(conversation, undefined, UIDS);
    const mine = {
      ...summary,
      message_uid: 'mine',
      _absorbed_message_uids: ['u1'],
      _engine_mark: { level: 2 },
    };
    const marked = { ...summary, _engine_mark: 7 };
    const { checkpointRows } = pass(rows, ([system, , , c, d]) => [system, mine, marked, c, d] as Message[]);
    expect(checkpointRows[0]).toMatchObject({ uid: 'mine', absorbed: ['u1'], mark: '{"level":2}' });
    expect(checkpointRows[1]).toMatchObject({ uid: 'minted 1', mark: '7' });
    expect(texts(checkpointRows)).toEqual([json('user', 'summary'), json('user', 'summary')]);
    expect(viewMessages(checkpointRows)[0]).toEqual(mine);
  });

  test('takes no message for two', () => {
    const { rows } = open(conversation, undefined, UIDS);
    const copy = ({ role, content, big }: Message): Message => ({ role, content, big });
    const { checkpointRows } = pass(
      rows,
      ([s, a, ...tail]) => [s, a, copy(a as Message), ...tail.slice(1)] as Message[],
    );
    expect(checkpointRows.map(({ uid }) => uid)).toEqual(['u1', 'minted 1']);
  });

  test('reaches up to a message that only got a mark', () => {
    const { rows } = open(conversation, undefined, UIDS);
    const settled = pass(rows, (messages) =>
      messages.map((m, i) => (i === 3 ? { ...m, _engine_mark: 1 } : m)),
    );
    expect(settled.messages).toBe(3);
    expect(texts(settled.rows)).toEqual(conversation);
    expect(settled.checkpointRows[2]).toMatchObject({ uid: 'u3', mark: '1' });
  });

  test('keeps a uid through a rewrite', () => {
    const { rows } = open(conversation, undefined, UIDS);
    const settled = pass(rows, (messages) => messages.map((m, i) => (i === 2 ? { ...m, content: 'B' } : m)));
    expect(texts(settled.checkpointRows)).toEqual([SPELLED, json('assistant', 'B')]);
    expect(settled.checkpointRows[1]).toMatchObject({ uid: 'u2', absorbed: ['u2 absorbed'] });
  });

  test('never holds the head, and tells where the engine changed it', () => {
    const { rows } = open(conversation, undefined, UIDS);
    const lists: Message[][] = [
      [],
      [{ role: 'system', content: 'S' }],
      [
        { role: 'system', content: 's' },
        { role: 'system', content: 'summary' },
      ],
    ];
    for (const head of lists) {
      const settled = pass(rows, ([, , , ...tail]) => [...head, summary, ...tail]);
      expect(settled.headChanged).toBe(true);
      expect(texts(settled.rows)).toEqual([
        conversation[0],
        json('user', 'summary'),
        ...conversation.slice(3),
      ]);
    }
  });

  test('grows over the old one and counts all that the client sent', () => {
    const first = pass(open(conversation, undefined, UIDS).rows, ([s, , , ...tail]) => [
      s as Message,
      summary,
      ...tail,
    ]);
    const longer = [...conversation, json('user', 'e')];
    const { rows } = open(longer, stored(first.messages, first.checkpointRows), [...UIDS, 'u5']);
    const again = pass(rows, ([s, old, , , ...tail]) => [s, old, summary, ...tail] as Message[]);
    expect(again.messages).toBe(4);
    expect(again.checkpointRows.map(({ uid }) => uid)).toEqual(['minted 1', 'minted 1']);
    expect(texts(again.rows).at(-1)).toBe(json('user', 'e'));
    expect(pass(again.rows, (messages) => messages).messages).toBe(4);
  });

  test('never reaches less far than the old one', () => {
    const old = pass(
      open(conversation, undefined, UIDS).rows,
      ([s, ...rest]) => [s, summary, ...rest.slice(1)] as Message[],
    );
    const { rows } = open(conversation, stored(old.messages, old.checkpointRows), UIDS);
    const same = pass(rows, (messages) => messages);
    expect(same.messages).toBe(old.messages);
    expect(texts(same.checkpointRows)).toEqual(texts(old.checkpointRows));
    expect(same.rows).toEqual(rows);
  });

  test('may stand for all there is', () => {
    const { rows } = open(conversation, undefined, UIDS);
    const settled = pass(rows, () => [summary]);
    expect(settled.messages).toBe(4);
    expect(texts(settled.rows)).toEqual([conversation[0], json('user', 'summary')]);
  });

  test('holds no memory of the request', () => {
    const { rows, request } = open([json('user', 'x'.repeat(LONGER_THAN_A_POOL)), json('user', 'b')]);
    const { checkpointRows } = pass(rows, ([a]) => [a as Message, { role: 'user', content: 'B' }]);
    for (const { bytes } of checkpointRows) expect(bytes.buffer).not.toBe(request.bytes.buffer);
  });
});

test('renders what the engine returned, whatever it did', () => {
  const message = fc.constantFrom('a', 'b', 'c', 'd').map((content) => json('user', content));
  const step = fc.array(fc.oneof(fc.nat(12), fc.constantFrom('x', 'y')), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 10 }), fc.array(step, { maxLength: 3 }), (messages, steps) => {
      let { rows } = open(
        [json('system', 's'), ...messages],
        undefined,
        messages.map((_, i) => `u${i}`),
      );
      for (const picks of steps) {
        const engine = (given: Message[]): Message[] =>
          picks.flatMap((pick): Message[] => {
            if (typeof pick === 'string') return [{ role: 'user', content: pick }];
            return pick > 0 && given[pick] ? [given[pick]] : [];
          });
        const expected = engine(viewMessages(rows)).map((one) => json(one.role, one.content));
        const settled = pass(rows, engine);
        expect(texts(settled.rows)).toEqual([json('system', 's'), ...expected]);
        const kept = settled.rows.filter(({ origin }) => origin === 'client').length;
        expect(settled.messages + kept).toBe(rows.at(-1)?.through);
        rows = [...settled.rows];
        if (rows.length === 1) break;
      }
    }),
  );
});
