import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BodyReader } from '../../src/body/body-reader.js';
import { type RawBody, readBody } from '../../src/body/raw-object.js';

const MESSAGE = `{"role":"user","content":"${'word \\n \\"x\\" é '.repeat(700)}"}`;

function chat(messages: readonly string[], rest = ',"max_tokens":5}'): string {
  return `{"model":"m","messages":[${messages.join(',')}]${rest}`;
}

/** What a reading says, without what was shared. */
function told(body: RawBody): unknown {
  if (body.kind !== 'object') return body.kind;
  const { members, span, bytes } = body.object;
  const digests = members.map(({ key }) => body.object.digest(key));
  return { members, span, text: bytes.toString(), digests };
}

function expectSame(reader: BodyReader, text: string): void {
  expect(told(reader.read(Buffer.from(text)))).toEqual(told(readBody(Buffer.from(text))));
}

describe('reads like a first reading', () => {
  test('a conversation that grows', () => {
    const reader = new BodyReader();
    const messages: string[] = [];
    for (let i = 0; i < 12; i += 1) {
      messages.push(MESSAGE.replace('word', `word ${i}`));
      expectSame(reader, chat(messages));
      expectSame(reader, chat(messages, ',"max_tokens":9999,"messages":[]}'));
    }
  });

  test('whatever follows a known beginning', () => {
    const tails = fc.array(
      fc.constantFrom(
        MESSAGE,
        ',',
        ']',
        '}',
        '{',
        '"',
        '1',
        'null',
        ' ',
        '[',
        '\\',
        '{"a":1}',
        ':',
        ',"b":2',
      ),
      {
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(fc.array(tails, { minLength: 2, maxLength: 6 }), (bodies) => {
        const reader = new BodyReader();
        expectSame(reader, chat([MESSAGE, MESSAGE]));
        for (const tail of bodies)
          expectSame(reader, `{"model":"m","messages":[${MESSAGE},${MESSAGE}${tail.join('')}`);
      }),
    );
  });

  test('a conversation whose last message is another one each time', () => {
    const reader = new BodyReader();
    for (let i = 0; i < 5; i += 1) {
      expectSame(reader, chat([MESSAGE, MESSAGE, `{"n":${i}}`]));
      expectSame(reader, chat([MESSAGE, MESSAGE, `{"n":${i}}`, MESSAGE]));
    }
  });

  test('a body whose last element goes on', () => {
    const reader = new BodyReader();
    const numbers = Array.from({ length: 5000 }, (_, i) => i + 1000).join(',');
    expectSame(reader, `{"messages":[${numbers},1]}`);
    expectSame(reader, `{"messages":[${numbers},12]}`);
    expectSame(reader, `{"messages":[${numbers},1e]}`);
  });

  test('a body that another, longer array comes to stand in', () => {
    const reader = new BodyReader();
    expectSame(reader, chat([MESSAGE]));
    expectSame(reader, chat([MESSAGE], `,"tools":[${[MESSAGE, MESSAGE, MESSAGE].join(',')}]}`));
    expectSame(reader, chat([MESSAGE], `,"tools":[${[MESSAGE, MESSAGE, MESSAGE, '{}'].join(',')}]}`));
  });

  test('conversations that fork and take turns', () => {
    const reader = new BodyReader();
    const head = [MESSAGE, MESSAGE];
    for (let turn = 0; turn < 5; turn += 1) {
      for (const branch of ['a', 'b']) {
        head.push(`{"role":"user","content":"${branch}${turn}"}`);
        expectSame(reader, chat(head));
      }
    }
  });

  test('keys with escapes before and behind what is shared', () => {
    const reader = new BodyReader();
    const escaped = MESSAGE.replace('role', 'r\\u006fle');
    expectSame(reader, chat([escaped]));
    const body = reader.read(Buffer.from(chat([escaped, '{}'])));
    expect(body.kind === 'object' && body.object.hasEscapedKey).toBe(true);
  });
});

test('digests are SHA-256 of the value, also where the beginning was hashed for an earlier body', () => {
  const reader = new BodyReader();
  const first = reader.read(Buffer.from(chat([MESSAGE])));
  const second = reader.read(Buffer.from(chat([MESSAGE, MESSAGE])));
  for (const [body, messages] of [
    [first, [MESSAGE]],
    [second, [MESSAGE, MESSAGE]],
    [first, [MESSAGE]],
  ] as const) {
    const expected = createHash('sha256')
      .update(`[${messages.join(',')}]`)
      .digest('base64url');
    expect(body.kind === 'object' && body.object.digest('messages')).toBe(expected);
  }
});

test('reads what a body repeats of a recent one only once', () => {
  const reader = new BodyReader();
  const known = Buffer.from(chat([MESSAGE, MESSAGE, '{"last":1}']));
  const next = Buffer.from(chat([MESSAGE, MESSAGE, '{"other":2}', '{}']));
  reader.read(known);
  // Both beginnings are damaged after the first reading: only who reads them again notices.
  for (const bytes of [known, next]) bytes[bytes.indexOf('word', 100)] = 0x01;
  expect(readBody(next).kind).toBe('not_json');
  expect(reader.read(next).kind).toBe('object');
});

test('keeps a bounded number of bytes', () => {
  const reader = new BodyReader();
  const bodies = Array.from({ length: 30 }, (_, i) =>
    Buffer.from(chat([`{"n":${i}}`, ...Array(50).fill(MESSAGE)])),
  );
  const refs = bodies.map((bytes) => {
    const body = reader.read(bytes);
    return body.kind === 'object' ? body.object.bytes.length : 0;
  });
  const total = refs.reduce((sum, length) => sum + length, 0);
  expect(total).toBeGreaterThan(8 * 1024 * 1024);
  expect(reader.bytesKept).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(reader.bytesKept).toBeGreaterThan(4 * 1024 * 1024);
});
