import { describe, expect, test } from 'vitest';
import { callOf, contextFor, failed, failureOf, HELLO, requestOf } from '../support/contexts.js';
import { counts, llamacpp, llamacppServer } from '../support/llamacpp-stub.js';
import { json } from '../support/tokenizer-stub.js';

const OPEN = { configured: false, contextLength: undefined } as const;
const COUNTING = '/v1/chat/completions/input_tokens';

test('sends the request as it came, byte for byte, and no second one for the count', async () => {
  const server = await llamacppServer();
  const body = '{ "messages":[{"role":"user","content":"\\u00fc"}],"seed":9007199254740993, "stream":true }';
  expect(await llamacpp(contextFor(server.url)).count(requestOf(body), callOf(OPEN))).toEqual({
    tokens: 12,
    contextLength: 2048,
  });
  expect(server.at(COUNTING).map((one) => one.body)).toEqual([body]);
});

describe('asks where requests of that endpoint are counted:', () => {
  test.each([
    ['/v1/responses', { input: 'x' }, 13],
    ['/v1/messages', HELLO, 14],
    ['/v1/completions', { prompt: 'x' }, 3],
    ['/v1/completions', { prompt: [5, 'x'] }, 3],
  ])('%s', async (path, body, tokens) => {
    const server = await llamacppServer();
    const counted = await llamacpp(contextFor(server.url)).count(requestOf(body), callOf({ ...OPEN, path }));
    expect(counted.tokens).toBe(tokens);
  });

  test.each([
    ['/v1/completions', { prompt: ['one', 'two'] }],
    ['/v1/completions', { prompt: { prompt_string: 'x' } }],
    ['/v1/completions', HELLO],
    ['/v1/embeddings', { input: 'x' }],
  ])('%s, where it cannot be counted', async (path, body) => {
    const server = await llamacppServer();
    const count = llamacpp(contextFor(server.url)).count(requestOf(body), callOf({ ...OPEN, path }));
    expect(await failureOf(count)).toEqual(failed('unsupported'));
  });
});

test('the prompt of a completion is tokenized as the model will read it', async () => {
  const server = await llamacppServer();
  const body = '{"prompt": "a\\u0001", "max_tokens": 3}';
  await llamacpp(contextFor(server.url)).count(requestOf(body), callOf({ ...OPEN, path: '/v1/completions' }));
  expect(server.at('/tokenize').map((one) => one.body)).toEqual([
    '{"content":"a\\u0001","add_special":true,"parse_special":true}',
  ]);
});

test('what does not reach the prompt shares a count, anything else has one of its own', async () => {
  const server = await llamacppServer();
  const backend = llamacpp(contextFor(server.url));
  const count = (extra: object) => backend.count(requestOf({ ...HELLO, ...extra }), callOf(OPEN));
  for (const extra of [{}, { max_tokens: 5 }, { stream: true, seed: 2 }, { n_predict: 7 }])
    await count(extra);
  expect(server.at(COUNTING)).toHaveLength(1);
  for (const extra of [{ tools: [] }, { model: 'x' }, { chat_template_kwargs: {} }, { grammar: 'g' }])
    await count(extra);
  expect(server.at(COUNTING)).toHaveLength(5);
  backend.clearCache();
  await count({});
  expect(server.at(COUNTING)).toHaveLength(6);
});

test('equal counts that are asked for at once cost one call', async () => {
  const server = await llamacppServer();
  const backend = llamacpp(contextFor(server.url));
  await Promise.all([1, 2, 3].map(() => backend.count(requestOf(HELLO), callOf(OPEN))));
  expect(server.at(COUNTING)).toHaveLength(1);
});

describe('no exact count where the server', () => {
  test.each([
    [
      'says something else',
      { [COUNTING]: (r: Parameters<typeof json>[0]) => json(r, { tokens: 3 }) },
      'bad_answer',
    ],
    ['counts less than nothing', { [COUNTING]: counts(-1) }, 'bad_answer'],
    ['loads its model', { [COUNTING]: (r: Parameters<typeof json>[0]) => json(r, {}, 503) }, 'status'],
    ['is too old to count', { [COUNTING]: (r: Parameters<typeof json>[0]) => json(r, {}, 404) }, 'status'],
  ])('%s', async (_what, routes, code) => {
    const server = await llamacppServer(routes);
    const count = llamacpp(contextFor(server.url)).count(requestOf(HELLO), callOf(OPEN));
    expect(await failureOf(count)).toEqual(failed(code));
  });
});

test('requests that the template refuses with 500 do not stop the counting of others', async () => {
  const server = await llamacppServer({
    [COUNTING]: (response, { body }) =>
      body.includes('bad') ? json(response, { error: { type: 'server_error' } }, 500) : counts(12)(response),
  });
  const backend = llamacpp(contextFor(server.url));
  for (let i = 0; i < 5; i += 1)
    await failureOf(backend.count(requestOf({ ...HELLO, bad: i }), callOf(OPEN)));
  expect((await backend.count(requestOf(HELLO), callOf(OPEN))).tokens).toBe(12);
  expect(backend.health?.()).toEqual({ state: 'closed', calls: 6, failures: 5 });
});

test('a server that is down is not asked for every request', async () => {
  const server = await llamacppServer({ [COUNTING]: (response) => json(response, {}, 503) });
  const backend = llamacpp(contextFor(server.url));
  for (let i = 0; i < 5; i += 1) await failureOf(backend.count(requestOf({ ...HELLO, i }), callOf(OPEN)));
  expect(server.at(COUNTING)).toHaveLength(3);
  expect(backend.health?.().state).toBe('open');
});

test('a client that goes ends its count', async () => {
  const server = await llamacppServer({ [COUNTING]: () => undefined });
  const gone = new AbortController();
  const count = llamacpp(contextFor(server.url)).count(
    requestOf(HELLO),
    callOf({ ...OPEN, signal: gone.signal }),
  );
  await server.arrivals(2);
  gone.abort(new Error('gone'));
  await expect(count).rejects.toThrow('gone');
  await server.at(COUNTING)[0]?.closed;
});
