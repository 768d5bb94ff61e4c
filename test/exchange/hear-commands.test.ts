import { expect, test } from 'vitest';
import { BodyReader } from '../../src/body/body-reader.js';
import { hearCommands } from '../../src/exchange/commands.js';

const SYSTEM = '{"role":"system","content":"You help."}';
const DATE = '{"role":"developer","content":"It is Monday."}';
const QUESTION = '{ "role" : "user", "content":"caf\\u00e9 1.0" }';
const ANSWER = '{"content":"answer","role":"assistant"}';
const NEXT = '{"role":"user","content":"next"}';
const said = (text: string) => JSON.stringify({ role: 'user', content: text });
const ours = (text = 'Done.') => JSON.stringify({ role: 'assistant', content: `[incontext] ${text}` });

function body(...messages: string[]): Buffer {
  return Buffer.from(` {"model":"m", "messages" : [${messages.join(' , ')}] ,"seed":12345678901234567890}`);
}

function hear(bytes: Buffer) {
  const { body: left, command } = hearCommands(bytes, new BodyReader());
  return { left: left.toString(), command };
}

test.each([
  ['/new', { kind: 'new' }],
  ['/reset', { kind: 'reset' }],
  ['/compress', { kind: 'compress', focus: undefined }],
  ['  /compress  the schema\nand its keys ', { kind: 'compress', focus: 'the schema\nand its keys' }],
])('hears %j as the last user message, and takes it out', (text, command) => {
  const heard = hear(body(SYSTEM, QUESTION, ANSWER, said(text)));
  expect(heard).toEqual({ left: body(SYSTEM, QUESTION, ANSWER).toString(), command });
});

test('hears a command in parts of text', () => {
  const message = '{"role":"user","content":[{"type":"text","text":"/new"}]}';
  expect(hear(body(QUESTION, ANSWER, message)).command).toEqual({ kind: 'new' });
});

test('hears a command that is the only message', () => {
  expect(hear(body(said('/new')))).toEqual({ left: body().toString(), command: { kind: 'new' } });
});

test.each([
  ['another word', said('/news')],
  ['words behind it', said('/new please')],
  ['words in front of it', said('say /new')],
  ['other letters', said('/NEW')],
  ['a longer word', said('/compressor')],
  ['an assistant’s word', '{"role":"assistant","content":"/new"}'],
  [
    'an image beside it',
    '{"role":"user","content":[{"type":"text","text":"/new"},{"type":"image_url","image_url":{"url":"x"}}]}',
  ],
  ['no text', '{"role":"user","content":null}'],
  ['no object', '"/new"'],
])('leaves the bytes alone for %s', (_what, message) => {
  const bytes = body(SYSTEM, QUESTION, ANSWER, message);
  const heard = hearCommands(bytes, new BodyReader());
  expect(heard.body).toBe(bytes);
  expect(heard.command).toBeUndefined();
});

test.each([
  '',
  'x',
  '{}',
  '[]',
  '{"messages":{}}',
  '{"messages":[]}',
  '{"messages":"/new"}',
  '{"messages":[ ]}',
])('leaves %j alone', (text) => {
  const bytes = Buffer.from(text);
  const heard = hearCommands(bytes, new BodyReader());
  expect(heard).toEqual({ body: bytes, command: undefined });
  expect(heard.body).toBe(bytes);
});

test('takes a command and our answer out of later requests; all other bytes stay', () => {
  const left = body(SYSTEM, QUESTION, ANSWER, NEXT).toString();
  expect(hear(body(SYSTEM, QUESTION, ANSWER, said('/compress x'), ours(), NEXT))).toEqual({
    left,
    command: undefined,
  });
  expect(hear(body(SYSTEM, said('/compress'), ours(), QUESTION, ANSWER, NEXT)).left).toBe(left);
  expect(hear(body(SYSTEM, QUESTION, ANSWER, NEXT, said('/compress'), ours())).left).toBe(left);
  expect(hear(body(said('/compress'), ours(), QUESTION)).left).toBe(body(QUESTION).toString());
});

test('takes out several, next to each other and apart', () => {
  const pair = [said('/compress'), ours()];
  const { left } = hear(body(...pair, ...pair, QUESTION, ...pair, ANSWER, NEXT, ...pair));
  expect(left).toBe(body(QUESTION, ANSWER, NEXT).toString());
});

test.each(['/new', '/reset'])('begins behind the last %s, with the instructions of the client', (command) => {
  const before = [QUESTION, ANSWER, said(command), ours(), QUESTION, ANSWER, said(command), ours()];
  expect(hear(body(SYSTEM, DATE, ...before, NEXT)).left).toBe(body(SYSTEM, DATE, NEXT).toString());
  expect(hear(body(SYSTEM, ...before)).left).toBe(body(SYSTEM).toString());
});

test('hears a command behind an earlier one', () => {
  const heard = hear(body(SYSTEM, QUESTION, said('/new'), ours(), NEXT, ANSWER, said('/compress a')));
  expect(heard).toEqual({
    left: body(SYSTEM, NEXT, ANSWER).toString(),
    command: { kind: 'compress', focus: 'a' },
  });
});

test.each([
  ['no answer', []],
  ['a text of its own as the answer', [ANSWER]],
  ['an empty answer', ['{"role":"assistant","content":null,"tool_calls":[]}']],
])('takes a command out where the client kept %s, and roles still alternate', (_what, kept) => {
  const compressed = [SYSTEM, QUESTION, ANSWER, said('/compress x'), ...kept, NEXT];
  const left = body(SYSTEM, QUESTION, ANSWER, NEXT).toString();
  expect(hear(body(...compressed))).toEqual({ left, command: undefined });
  expect(hear(body(...compressed, ANSWER, said('/new')))).toEqual({
    left: body(SYSTEM, QUESTION, ANSWER, NEXT, ANSWER).toString(),
    command: { kind: 'new' },
  });
  for (const command of ['/new', '/reset']) {
    const begun = [SYSTEM, QUESTION, ANSWER, said(command), ...kept, NEXT];
    expect(hear(body(...begun)).left).toBe(body(SYSTEM, NEXT).toString());
    expect(hear(body(...begun, ANSWER, QUESTION)).left).toBe(body(SYSTEM, NEXT, ANSWER, QUESTION).toString());
    expect(hear(body(said(command), ...kept, NEXT)).left).toBe(body(NEXT).toString());
  }
});

test('takes out a command that its client sent twice, and one with escaped slashes', () => {
  expect(hear(body(QUESTION, ANSWER, said('/new'), said('/new'), NEXT)).left).toBe(body(NEXT).toString());
  const escaped = '{"role":"user","content":"\\/new"}';
  expect(hear(body(QUESTION, ANSWER, escaped, NEXT)).left).toBe(body(NEXT).toString());
});

test('leaves alone a command that the model worked on, one that no request follows, and an answer without one', () => {
  const call = '{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}';
  const calling = `{"role":"assistant","content":null,"tool_calls":[${call}]}`;
  for (const messages of [
    [
      QUESTION,
      ANSWER,
      said('/new'),
      calling,
      '{"role":"tool","tool_call_id":"a","content":"x"}',
      ANSWER,
      NEXT,
    ],
    [QUESTION, ANSWER, said('/new'), ANSWER],
    [QUESTION, ANSWER, said('/compress'), SYSTEM],
    [QUESTION, ours(), NEXT],
    [QUESTION, ours('See /new.'), NEXT],
    [said('[incontext] '), NEXT],
  ]) {
    const bytes = body(...messages);
    expect(hearCommands(bytes, new BodyReader()).body.toString()).toBe(bytes.toString());
  }
});

test('looks at the last of several lists of messages, as the server does', () => {
  const bytes = Buffer.from(`{"messages":[${said('/new')}],"messages":[${NEXT}]}`);
  expect(hearCommands(bytes, new BodyReader()).command).toBeUndefined();
});
