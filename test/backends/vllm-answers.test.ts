import { expect, test } from 'vitest';
import {
  callOf,
  contextFor,
  failed,
  failureOf,
  HELLO,
  MODEL_UNKNOWN,
  requestOf,
  vllm,
} from './support/contexts.js';
import { type Answer, counted, json, listen, raw } from './support/tokenizer-stub.js';

const ids = (count: number) => Array.from({ length: count }, (_, i) => 10_000 + (i % 89_999));
const large = (head: string, tail = ',"token_strs":null}') =>
  `{${head},"tokens":[${ids(200_000).join(',')}]${tail}`;

async function countOf(answer: Answer, timeoutSeconds = 30) {
  const stub = await listen(answer);
  const backend = vllm(contextFor(stub.url, { timeoutSeconds }));
  return { stub, backend, count: backend.count(requestOf(HELLO), callOf()) };
}

test('a megabyte of token ids is read from its head', async () => {
  const body = large('"count":200000,"max_model_len":65536');
  expect(body.length).toBeGreaterThan(1_000_000);
  const { count } = await countOf((response) => raw(response, `${body}\n \n`));
  expect(await count).toEqual({ tokens: 200_000, contextLength: 65_536 });
});

test('a large answer may begin with a byte order mark and white space, and has scalars of any kind', async () => {
  const head = ' "a":"x,\\"count\\":1" , "count" : 7 ,\n"b":null,"c":-1.5e3,"d":true,"max_model_len":65536';
  const { count } = await countOf((response) => raw(response, `\ufeff \n${large(head)}`));
  expect(await count).toEqual({ tokens: 7, contextLength: 65_536 });
});

test('of duplicate keys in the head of a large answer the last one counts', async () => {
  const { count } = await countOf((response) =>
    raw(response, large('"count":5,"count":7,"max_model_len":65536')),
  );
  expect(await count).toMatchObject({ tokens: 7 });
});

const GOOD = '"count":7,"max_model_len":65536';
const BAD_ANSWERS: readonly (readonly [string, string])[] = [
  ['HTML', '<html><body>Welcome</body></html>'],
  ['a large HTML page', `<html>${'x'.repeat(100_000)}</html>`],
  ['nothing', ''],
  ['an error in a 200, as vLLM 0.16 gives it', '{"error":{"message":"engine died","code":500}}'],
  ['a count in quotes', '{"count":"3000","max_model_len":65536}'],
  ['a negative count', '{"count":-1,"max_model_len":65536}'],
  ['a list', '[]'],
  ['a large answer with a fractional count', large('"count":5.0,"max_model_len":65536')],
  ['a large answer with a count in quotes', large('"count":"5","max_model_len":65536')],
  ['a large answer with a negative count', large('"count":-5,"max_model_len":65536')],
  ['a large answer without a length', large('"count":5')],
  ['a large answer whose count comes after the ids', `{"tokens":[${ids(20_000).join(',')}],${GOOD}}`],
  ['a large answer that is cut', large(GOOD).slice(0, -20)],
  ['a large answer with text after it', `${large(GOOD)} x`],
  ['a large list', `[${large(GOOD)}]`],
  ['a small answer with text after it', `{${GOOD}} x`],
];

for (const [what, body] of BAD_ANSWERS) {
  test(`is no count: ${what} (bug case 22, volcengine/verl#7617)`, async () => {
    const { count, backend } = await countOf((response) => raw(response, body));
    expect(await failureOf(count)).toEqual(failed('bad_answer'));
    expect(backend.health?.()).toEqual({ state: 'closed', calls: 1, failures: 1 });
  });
}

test('an answer that breaks off is no count, with a length announced or without', async () => {
  const announced = await countOf((response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{"count":7', () => response.destroy());
  });
  expect(await failureOf(announced.count)).toEqual(failed('bad_answer'));
  const chunked = await countOf((response) => {
    response.writeHead(200);
    response.write(`{${GOOD}}`, () => response.destroy());
  });
  expect(await failureOf(chunked.count)).toEqual(failed('bad_answer'));
});

test('a redirect is a failed count, and its target is never contacted', async () => {
  const target = await listen((response) => counted(response, 5));
  for (const status of [301, 302, 303, 307, 308]) {
    const { count } = await countOf((response) => {
      response.writeHead(status, { location: `${target.url}/tokenize` }).end();
    });
    expect(await failureOf(count)).toEqual(failed('redirect'));
  }
  expect(target.arrived).toHaveLength(0);
});

const NO_MODEL = [
  {
    error: {
      message: 'The model `nope` does not exist. Valid aliases: tiny.',
      type: 'NotFoundError',
      code: 404,
    },
  },
  {
    error: { message: 'The model `nope` does not exist.', type: 'NotFoundError', param: 'model', code: 404 },
  },
  {
    object: 'error',
    message: 'The model `nope` does not exist.',
    type: 'NotFoundError',
    param: null,
    code: 404,
  },
];
for (const [i, body] of NO_MODEL.entries()) {
  test(`a 404 that names the model says that the server does not know it (wording ${i + 1})`, async () => {
    const { count, backend } = await countOf((response) => json(response, body, 404));
    expect(await failureOf(count)).toEqual(MODEL_UNKNOWN);
    expect(backend.health?.()).toEqual({ state: 'closed', calls: 1, failures: 0 });
  });
}

const REFUSALS: readonly (readonly [string, number, string])[] = [
  ['a 404 of the endpoint itself', 404, '{"detail":"Not Found"}'],
  ['a 404 in HTML that speaks of a model', 404, '<p>model does not exist</p>'],
  ['a 401', 401, '{"error":"Unauthorized"}'],
  ['a 403', 403, '{"error":{"message":"The model `m` does not exist."}}'],
  ['a 400', 400, '{"error":{"message":"list index out of range"}}'],
  ['a 500 that is not JSON', 500, 'Internal Server Error'],
  ['a 503', 503, ''],
  ['a 204', 204, ''],
];
for (const [what, status, body] of REFUSALS) {
  test(`is a failed count: ${what} (bug case 22, vllm-project/vllm#18892)`, async () => {
    const { count } = await countOf((response) => raw(response, body, status));
    expect(await failureOf(count)).toEqual(failed('status'));
  });
}

test('a refusal that breaks off is a refusal', async () => {
  const { count } = await countOf((response) => {
    response.writeHead(401, { 'content-length': 100 });
    response.write('{"error":', () => response.destroy());
  });
  expect(await failureOf(count)).toEqual(failed('status'));
});

test('an error page without end is not read to its end', async () => {
  const { count, stub } = await countOf((response) => {
    response.writeHead(500);
    const more = (): void => {
      if (!response.destroyed) response.write('x'.repeat(16_384), () => setImmediate(more));
    };
    more();
  }, 5);
  expect(await failureOf(count)).toEqual(failed('status'));
  await stub.arrived[0]?.closed;
});

test('a configured context length is compared, and another one is no exact count', async () => {
  const stub = await listen((response) => counted(response, 5, 32_768));
  const backend = vllm(contextFor(stub.url));
  const call = callOf({ contextLength: 65_536, configured: true });
  expect(await failureOf(backend.count(requestOf(HELLO), call))).toEqual(failed('window_mismatch'));
  expect(await failureOf(backend.count(requestOf(HELLO), call))).toEqual(failed('window_mismatch'));
  expect(stub.arrived).toHaveLength(2);
});

test('a discovered context length is reported with the count, whatever was known before', async () => {
  const stub = await listen((response) => counted(response, 5, 32_768));
  const backend = vllm(contextFor(stub.url));
  for (const contextLength of [undefined, 65_536, 32_768]) {
    const call = callOf({ contextLength, configured: false });
    expect(await backend.count(requestOf(HELLO), call)).toEqual({ tokens: 5, contextLength: 32_768 });
  }
});

test('error messages name no address, prompt or credential', async () => {
  const stub = await listen((response) =>
    json(response, { error: { message: 'SECRET-PROMPT at 10.0.0.1' } }, 400),
  );
  const backend = vllm(contextFor(stub.url));
  const down = vllm(contextFor('http://127.0.0.1:9'));
  const request = requestOf({ messages: [{ role: 'user', content: 'SECRET-PROMPT' }] });
  for (const one of [backend, down]) {
    const error: unknown = await one
      .count(request, callOf({ credential: 'Bearer SECRET-KEY' }))
      .catch((e) => e);
    const { port } = new URL(stub.url);
    const told = `${String(error)} ${JSON.stringify(error)} ${String(Reflect.get(Object(error), 'cause'))}`;
    for (const word of ['SECRET', '127.0.0.1', port, '10.0.0.1']) expect(told).not.toContain(word);
  }
});
