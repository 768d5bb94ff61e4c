import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RawObject } from '../../src/body/raw-object.js';
import { ChainReader } from '../../src/conversation/chain.js';
import type { Message } from '../../src/conversation/message.js';
import {
  buildView,
  renderMessages,
  renderRequest,
  type ViewRow,
  viewMessages,
} from '../../src/conversation/view.js';
import type { Checkpoint, NodeRecord } from '../../src/store/conversation-store.js';

const UID = 'a'.repeat(32);
const SYSTEM = '{"role":"system","content":"s"}';
const user = (content: string): string => `{"role":"user","content":${JSON.stringify(content)}}`;

function view(text: string, checkpoint?: Checkpoint, nodes: readonly (NodeRecord | undefined)[] = []) {
  const request = RawObject.parse(Buffer.from(text)) as RawObject;
  const chain = new ChainReader().read('t', request);
  const rows = buildView({ request, chain, nodes, checkpoint });
  return { request, rows, rendered: renderRequest(request, rows) };
}

function checkpoint(messages: number, ...texts: string[]): Checkpoint {
  const rows = texts.map((text, i) => ({
    bytes: Buffer.from(text),
    uid: `c${i}`,
    absorbed: ['x'],
    toolCallUids: undefined,
    toolCallUid: undefined,
    mark: i === 0 ? '{"level":1}' : undefined,
  }));
  const rest = { end: 'h', model: 'm', engine: 'e', conversation: 'c', tokensBefore: 9, tokensAfter: 3 };
  return { ...rest, messages, rows, created: 0 };
}

function node(uid: string, rest: Partial<NodeRecord> = {}): NodeRecord {
  const place = { hash: 'h', parent: undefined, content: 'm', depth: 0, conversation: 'c' };
  return { ...place, uid, absorbed: [], toolCallUids: undefined, toolCallUid: undefined, ...rest };
}

test('shows the head, the checkpoint, and what the client sent since', () => {
  const body = `{"seed":18446744073709551615, "messages" : [${SYSTEM} , ${user('1')},${user('2')},\n{"content":1.0,"role":"user","__proto__":{}}],"x":1.0}`;
  const { rows, rendered } = view(body, checkpoint(2, user('summary'), user('ack')));
  expect(rows.map(({ origin }) => origin)).toEqual(['head', 'checkpoint', 'checkpoint', 'client']);
  expect(rendered.toString()).toBe(
    `{"seed":18446744073709551615, "messages" : [${SYSTEM},${user('summary')},${user('ack')},{"content":1.0,"role":"user","__proto__":{}}],"x":1.0}`,
  );
});

describe('gives back the very Buffer', () => {
  test.each([
    `{"messages":[${SYSTEM}, ${user('a')} ,\n ${user('b')} ] }`,
    '{"messages":[ ]}',
    '{"messages":[1,null,"x,]"]}',
    '{"messages":null}',
    '{"model":"m"}',
    `{"messages":[${user('old')}],"messages":[${user('a')}]}`,
  ])('where nothing changed: %s', (body) => {
    const { request, rendered } = view(body);
    expect(rendered).toBe(request.bytes);
  });

  test('of a body that is itself a part of a larger Buffer', () => {
    const body = Buffer.from(`xx{"messages":[${user('a')}]}`).subarray(2);
    const request = RawObject.parse(body) as RawObject;
    const chain = new ChainReader().read('t', request);
    expect(renderRequest(request, buildView({ request, chain, nodes: [] }))).toBe(body);
  });
});

test('notices a message that was left out, moved or put twice', () => {
  const { request, rows } = view(`{"messages":[${user('a')},${user('b')},${user('c')}]}`);
  const [a, b, c] = rows as [ViewRow, ViewRow, ViewRow];
  const contents = (some: readonly ViewRow[]): string =>
    JSON.parse(renderRequest(request, some).toString())
      .messages.map(({ content }: { content: string }) => content)
      .join('');
  const lists = [[a, c], [b, c], [a, b], [b, a, c], [a, a, b, c], [a, b, c, c], []];
  expect(lists.map(contents)).toEqual(['ac', 'bc', 'ab', 'bac', 'aabc', 'abcc', '']);
});

test('changes the messages and not one byte beside them', () => {
  const json = fc.json({ maxDepth: 2 });
  fc.assert(
    fc.property(
      fc.array(json, { maxLength: 5 }),
      fc.array(json, { maxLength: 4 }),
      json,
      json,
      (all, mine, x, y) => {
        const before = `{"a": ${x} ,"messages":[${all.join(' , ')}]`;
        const after = `, "b\\u0062":${y}, "c":1.0 }`;
        const { request } = view(before + after);
        const rows = mine.map((text) => row(text));
        const rendered = renderRequest(request, rows).toString();
        const start = `{"a": ${x} ,"messages":`;
        expect(rendered).toBe(
          mine.length + all.length === 0 ? before + after : `${start}[${mine.join(',')}]${after}`,
        );
      },
    ),
  );
});

function row(text: string): ViewRow {
  const nothing = { uid: undefined, absorbed: [], toolCallUids: undefined, toolCallUid: undefined };
  return { ...nothing, bytes: Buffer.from(text), mark: undefined, origin: 'client', through: 1 };
}

test('renders messages of an engine into a request', () => {
  const { request } = view('{"seed":18446744073709551615,"messages":[1],"x":1.0}');
  const message = { role: 'user', content: 'a', message_uid: UID, _engine_mark: 1 };
  expect(renderMessages(request, [message]).bytes.toString()).toBe(
    '{"seed":18446744073709551615,"messages":[{"role":"user","content":"a"}],"x":1.0}',
  );
});

test('sends no private field of a message', () => {
  const { rendered } = view(
    `{"messages":[{"message_uid":"${UID}","role":"user","content":"message_uid"},{"role":"tool", "_tool_call\\u005fuid":"x"}]}`,
  );
  expect(rendered.toString()).toBe('{"messages":[{"role":"user","content":"message_uid"},{"role":"tool"}]}');
});

test('sends no private field that is spelled with an escape', () => {
  const { rendered } = view('{"messages":[{"role":"user", "message\\u005fuid":"x"}]}');
  expect(rendered.toString()).toBe('{"messages":[{"role":"user"}]}');
});

describe('shows engines', () => {
  test('the bookkeeping that is stored, never the one that a client sent', () => {
    const sent = `{"role":"user","content":"b","message_uid":"${UID}","_engine_mark":1,"_absorbed_message_uids":["z"]}`;
    const calls = { c1: 'u1', c2: ['u2', 'u3'] };
    const { rows } = view(
      `{"messages":[${SYSTEM},${user('a')},${sent},${user('c')}]}`,
      checkpoint(1, user('s')),
      [undefined, node('n1', { absorbed: ['n0'], toolCallUids: calls, toolCallUid: 't' })],
    );
    expect(viewMessages(rows)).toEqual([
      { role: 'system', content: 's' },
      {
        role: 'user',
        content: 's',
        message_uid: 'c0',
        _absorbed_message_uids: ['x'],
        _engine_mark: { level: 1 },
      },
      {
        role: 'user',
        content: 'b',
        message_uid: 'n1',
        _absorbed_message_uids: ['n0'],
        _tool_call_uids: calls,
        _tool_call_uid: 't',
      },
      { role: 'user', content: 'c' },
    ]);
  });

  test('copies of their own', () => {
    const { rows, rendered } = view(`{"messages":[{"role":"user","content":[{"type":"text"}]}]}`, undefined, [
      node('n', { toolCallUids: { c: ['u'] } }),
    ]);
    const [first] = viewMessages(rows) as [Message];
    const calls = first._tool_call_uids?.c as string[] | undefined;
    first.content = 'changed';
    calls?.push('changed');
    expect(calls).toEqual(['u', 'changed']);
    expect(JSON.stringify(viewMessages(rows))).not.toContain('changed');
    expect(rendered.toString()).not.toContain('changed');
  });

  test('what is no message as it is', () => {
    expect(viewMessages(view('{"messages":[null,1,"x",[]]}').rows)).toEqual([null, 1, 'x', []]);
  });
});
