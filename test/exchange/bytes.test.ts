import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postChat, startProxy, type TestProxy, told } from '../support/proxy.js';
import { CHAT, startStub, type UpstreamStub } from '../support/upstream-stub.js';

let stub: UpstreamStub;
let proxy: TestProxy;

beforeAll(async () => {
  stub = await startStub({ window: 4096, count: 3000 });
  proxy = await startProxy({ upstream: stub.url });
});

beforeEach(() => {
  stub.received.length = 0;
});

afterAll(async () => {
  await proxy.close();
  await stub.close();
});

/** What reaches the upstream for these body bytes. */
async function sent(body: string | Buffer): Promise<string> {
  await (await postChat(proxy.url, body)).arrayBuffer();
  return stub.only(CHAT).body.toString('latin1');
}

const MESSAGES = '"messages":[{"role":"user","content":"q"}]';

/** Members that a parser and serialiser would change, and the report that says so. */
const FRAGILE = [
  ['64-bit seeds (llm-d/llm-d-router#2518)', '"seed":9007199254740993'],
  ['floats without a fraction', '"temperature":1.0,"top_p":1e0'],
  [
    'exponents and negative zero',
    '"presence_penalty":1e2,"frequency_penalty":-0.0,"logit_bias":{"50256":-100.0}',
  ],
  ['the order of integer-like keys (sgl-project/sglang#34553)', '"logit_bias":{"50256":1,"10":2,"9":3}'],
  [
    'key order inside tool schemas (openclaw/openclaw#78747)',
    '"tools":[{"type":"function","function":{"name":"t","parameters":{"properties":{"404":{},"200":{}}}}}]',
  ],
  [
    'unknown fields (vllm-project/semantic-router#2128)',
    '"chat_template_kwargs":{"a":1},"guided_json":{},"structured_outputs":{},"top_k":3,"vllm_xargs":{},"kv_transfer_params":{},"cache_salt":"s","priority":1,"foo":null',
  ],
  ['__proto__ keys', '"tools":[{"__proto__":{"x":1}}],"__proto__":{"y":2}'],
  ['constructor keys', '"constructor":{"prototype":{"z":1}}'],
  ['escapes as they are spelled', '"user":"\\u00e9\\/\\ud83d\\ude00"'],
  ['lone surrogates', '"user":"\\ud800"'],
  ['white space', '"stop" : [ "a" ,\n\t"b" ]'],
  ['duplicate unknown keys', '"a":1,"a":2'],
] as const;

describe('keeps the bytes of', () => {
  test.each(FRAGILE)('%s where nothing has to change', async (_what, members) => {
    const body = `{"model":"m",${MESSAGES},${members},"max_tokens":1000}`;
    expect(await sent(body)).toBe(Buffer.from(body).toString('latin1'));
  });

  test.each(FRAGILE)('%s where the cap is lowered', async (_what, members) => {
    const body = (cap: number) => `{"model":"m","max_tokens":${cap},${MESSAGES},${members}}`;
    expect(await sent(body(1_000_000))).toBe(Buffer.from(body(1096)).toString('latin1'));
  });
});

test('counts what the client sent, in its own spelling', async () => {
  const members = [
    '"messages":[{"role":"user","content":"counted \\u00e9","f":1.0,"seed":9007199254740993}]',
    '"tools":[{"type":"function","function":{"name":"t","parameters":{"404":{},"200":{},"__proto__":{"x":-0.0}}}}]',
  ];
  await sent(`{"temperature":0.5,"model":"m",${members.join(',')},"max_tokens":77}`);
  const counted = stub.only('/tokenize').body.toString('latin1');
  for (const member of members) expect(counted).toContain(member);
  expect(counted).not.toContain('temperature');
  expect(counted).not.toContain('max_tokens');
});

test('replaces the value of the last of duplicate caps, the one that counts', async () => {
  const body = (cap: number) => `{"model":"m","max_tokens":5,${MESSAGES},"max_tokens":${cap}}`;
  expect(await sent(body(9999))).toBe(body(1096));
});

test('finds a cap whose name is spelled with escapes', async () => {
  const body = (cap: number) => `{"model":"m",${MESSAGES},"max\\u005ftokens":${cap}}`;
  expect(await sent(body(9999))).toBe(body(1096));
});

test.each(['2048.0', '"2048"', '1e3', 'true'])(
  'replaces the whole token of a cap spelled %s',
  async (cap) => {
    const body = (value: string) => `{"model":"m","max_tokens" : ${value} ,${MESSAGES}}`;
    const sentBody = await sent(body(cap));
    expect(sentBody).toMatch(/"max_tokens" : \d+ ,/);
    expect(sentBody.replace(/\d+ ,/, `${cap} ,`)).toBe(body(cap));
  },
);

test('drops every occurrence of the names that do not go out', async () => {
  const body = `{"max_completion_tokens":3000,"model":"m",${MESSAGES},"max_tokens":700,"max_completion_tokens":2000}`;
  expect(await sent(body)).toBe(`{"model":"m",${MESSAGES},"max_tokens":700}`);
});

test('keeps a byte order mark, which the server accepts', async () => {
  const body = (cap: number) => `\uFEFF{"model":"m",${MESSAGES},"max_tokens":${cap}}`;
  expect(await sent(body(9999))).toBe(Buffer.from(body(1096)).toString('latin1'));
});

describe('private fields', () => {
  const message =
    '{"role":"user","message_uid":"secret-uid","content":"q","_absorbed_message_uids":["a"],"_tool_call_uids":{},"_tool_call_uid":"b"}';

  test('are the only edit of a request that needs no decision', async () => {
    const body = `{"model":"m","messages":[${message.replace('"q"', '"only edit"')}],"max_tokens":100}`;
    expect(await sent(body)).toBe(
      '{"model":"m","messages":[{"role":"user","content":"only edit"}],"max_tokens":100}',
    );
    expect(stub.only('/tokenize').body.toString()).not.toContain('uid');
  });

  test('never leave, however their names are escaped', async () => {
    const escaped = message.replace('message_uid', 'mess\\u0061ge_uid');
    expect(await sent(`{"model":"m","messages":[${escaped}],"max_tokens":100}`)).not.toContain('secret');
  });

  test("of the same names elsewhere are the client's own", async () => {
    const body = `{"model":"m",${MESSAGES},"metadata":{"message_uid":"mine"},"max_tokens":100}`;
    expect(await sent(body)).toBe(body);
  });
});

describe('leaves the judgement of a malformed request to the upstream', () => {
  const deep = `{"model":"m","messages":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
  test.each([
    ['an open brace', '{', 'not_json'],
    ['an empty body', '', 'not_json'],
    ['a truncated body', `{"model":"m",${MESSAGES},"max_tokens":5`, 'not_json'],
    ['trailing text', `{"model":"m",${MESSAGES}} x`, 'not_json'],
    ['NaN', `{"model":"m",${MESSAGES},"temperature":NaN}`, 'not_json'],
    ['a list', '[]', 'ignored'],
    ['a string', '"x"', 'ignored'],
    ['null', 'null', 'ignored'],
    ['no messages', '{"model":"m","max_tokens":5}', 'ignored'],
    ['messages of a wrong type', '{"model":"m","messages":"hi","max_tokens":999999}', 'ignored'],
    ['messages that are an object', '{"model":"m","messages":{},"max_tokens":999999}', 'ignored'],
    ['messages that are null', '{"model":"m","messages":null}', 'ignored'],
  ])('%s', async (_what, body, reason) => {
    const response = await postChat(proxy.url, body);
    expect(stub.only(CHAT).body.toString()).toBe(body);
    expect(told(response)).toMatchObject({ action: 'unchanged', reason, source: 'none' });
    expect(await response.text()).not.toContain('FST_');
  });

  test('invalid UTF-8', async () => {
    const body = Buffer.concat([
      Buffer.from('{"model":"m","messages":[{"role":"user","content":"'),
      Buffer.from([0xff, 0xfe, 0xc3]),
      Buffer.from('"}],"max_tokens":999999}'),
    ]);
    const response = await postChat(proxy.url, body);
    expect(stub.only(CHAT).body.equals(body)).toBe(true);
    expect(told(response)).toMatchObject({ action: 'unchanged', reason: 'not_json' });
  });

  test('10,000 levels of nesting', async () => {
    const response = await postChat(proxy.url, deep);
    expect(response.status).toBe(200);
    expect(stub.only(CHAT).body.toString()).toBe(`${deep.slice(0, -1)},"max_tokens":1096}`);
  });
});

test('passes elements of messages that are no messages on to the upstream', async () => {
  const body = (cap: string) => `{"model":"m","messages":[1,null,"x",[],{}]${cap}}`;
  expect(await sent(body(''))).toBe(body(',"max_tokens":1096'));
});
