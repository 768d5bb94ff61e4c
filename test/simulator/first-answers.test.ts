import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';

let server: TestSimulator;

beforeAll(async () => {
  server = await simulator({ models: [{ id: 'tiny', maxModelLen: 4096 }] });
});
afterAll(() => server.close());

const hello = [{ role: 'user', content: 'hello there' }];

function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

test('lists its models with their length', async () => {
  const answer = await fetch(`${server.url}/v1/models`);
  expect(await answer.json()).toMatchObject({ data: [{ id: 'tiny', max_model_len: 4096 }] });
});

test('counts a chat with the ids that the real server gives', async () => {
  const answer = await post('/tokenize', { model: 'tiny', messages: hello });
  expect(await answer.json()).toEqual({
    count: 10,
    max_model_len: 4096,
    tokens: [151644, 872, 198, 14990, 1052, 151645, 198, 151644, 77091, 198],
    token_strs: null,
  });
});

test('answers exactly as many tokens as the cap allows', async () => {
  const answer = await post('/v1/chat/completions', { messages: hello, max_tokens: 7 });
  const body = (await answer.json()) as {
    usage: object;
    choices: [{ message: { content: string }; finish_reason: string }];
  };
  expect(body.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 });
  expect(body.choices[0].finish_reason).toBe('length');
  const counted = await post('/tokenize', { prompt: body.choices[0].message.content });
  expect(await counted.json()).toMatchObject({ count: 7 });
});

test('refuses a cap above the context length in the words of vLLM', async () => {
  const answer = await post('/v1/chat/completions', { messages: hello, max_tokens: 1_000_000 });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({
    error: {
      message:
        'max_tokens=1000000 cannot be greater than max_model_len=4096. Please request fewer output tokens. (parameter=max_tokens, value=1000000)',
      type: 'BadRequestError',
      param: 'max_tokens',
      code: 400,
    },
  });
});

test('says what a script tells it to, one event for each token, and the usage at the end', async () => {
  const answer = await post('/v1/chat/completions', {
    messages: [{ role: 'user', content: 'x\n!sim {"text": "one two three"}' }],
    stream: true,
    stream_options: { include_usage: true },
  });
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const events = (await answer.text()).split('\n\n').filter((event) => event !== '');
  expect(events.at(-1)).toBe('data: [DONE]');
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice('data: '.length)));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content)).toEqual([
    '',
    'one',
    ' two',
    ' three',
    undefined,
  ]);
  expect(chunks.at(-2).choices[0].finish_reason).toBe('stop');
  expect(chunks.at(-1).usage).toMatchObject({ completion_tokens: 3 });
});

test('shows what arrived, byte for byte, until it is told to forget', async () => {
  await server.clearRequests();
  await fetch(`${server.url}/tokenize?x=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-marked': 'yes' },
    body: '{"prompt" : "a", "seed": 9007199254740993}',
  });
  const [request, ...others] = await server.requests();
  expect(others).toEqual([]);
  expect(request).toMatchObject({
    method: 'POST',
    path: '/tokenize?x=1',
    body: '{"prompt" : "a", "seed": 9007199254740993}',
    headers: { 'x-marked': 'yes' },
  });
  await server.clearRequests();
  expect(await server.requests()).toEqual([]);
});
