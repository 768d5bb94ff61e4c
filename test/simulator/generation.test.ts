import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { type ChatAnswer, chat, chatEvents, chunksOf, countOf, eventsOf, post, said } from './ask.js';

let server: TestSimulator;

beforeAll(async () => {
  server = await simulator({ models: [{ id: 'tiny', maxModelLen: 512 }] });
});
afterAll(() => server.close());

async function complete(body: object): Promise<ChatAnswer> {
  return (await (await post(`${server.url}/v1/completions`, body)).json()) as ChatAnswer;
}

test('without a cap a chat runs to the end of the context', async () => {
  const { usage, choices } = await chat(server.url, { messages: said('hello there') });
  expect(usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 502, total_tokens: 512 });
  expect(choices[0]?.finish_reason).toBe('length');
  expect(await countOf(server.url, choices[0]?.message.content ?? '')).toBe(502);
});

test('the same request has the same answer, another request another', async () => {
  const [first, again, other] = await Promise.all(
    ['a', 'a', 'b'].map((text) => chat(server.url, { messages: said(text), max_tokens: 20 })),
  );
  expect(again?.choices).toEqual(first?.choices);
  expect(other?.choices).not.toEqual(first?.choices);
});

test('max_completion_tokens beats max_tokens, even an impossible one', async () => {
  const { usage } = await chat(server.url, {
    messages: said('a'),
    max_completion_tokens: 2,
    max_tokens: 99_999,
  });
  expect(usage.completion_tokens).toBe(2);
});

test('several choices differ, and all their tokens are counted', async () => {
  const { usage, choices } = await chat(server.url, { messages: said('a'), max_tokens: 5, n: 3 });
  expect(new Set(choices.map((choice) => choice.message.content)).size).toBe(3);
  expect(usage.completion_tokens).toBe(15);
});

test('several choices stream side by side', async () => {
  const chunks = chunksOf(await chatEvents(server.url, { messages: said('a'), max_tokens: 2, n: 2 }));
  expect(chunks.map((chunk) => chunk.choices[0]?.index)).toEqual([0, 1, 0, 1, 0, 1]);
});

test.each([false, true])(
  'a stop string ends the text before it, or behind it when it is kept: %s',
  async (kept) => {
    const answer = await chat(server.url, {
      messages: said('!sim {"text": "alpha beta gamma delta"}'),
      stop: ['a gam', 'nowhere'],
      include_stop_str_in_output: kept,
    });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: 'a gam' });
    expect(answer.choices[0]?.message.content).toBe(kept ? 'alpha beta gam' : 'alpha bet');
  },
);

test('what may become a stop string is not streamed before it is known', async () => {
  const body = { messages: said('!sim {"text": "alpha beta gamma delta"}'), stop: 'a gam' };
  const chunks = chunksOf(await chatEvents(server.url, body));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content).join('')).toBe('alpha bet');
});

test('continuous usage counts one token more with each chunk', async () => {
  const chunks = chunksOf(
    await chatEvents(server.url, {
      messages: said('a'),
      max_tokens: 3,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    }),
  );
  expect(chunks.map((chunk) => chunk.usage?.completion_tokens)).toEqual([0, 1, 2, 3, 3]);
});

test('options of a stream that is none are refused', async () => {
  const answer = await chat(server.url, { messages: said('a'), stream_options: { include_usage: true } });
  expect(answer.error).toMatchObject({ code: 400, param: 'stream_options' });
});

test('each token has its logprobs, in JSON and in a stream', async () => {
  const body = { messages: said('!sim {"text": "one two"}'), logprobs: true, top_logprobs: 2 };
  const { choices } = await chat(server.url, body);
  expect(choices[0]?.logprobs?.content).toMatchObject([
    { token: 'one', top_logprobs: [{ token: 'one' }, {}] },
    { token: ' two', top_logprobs: [{ token: ' two' }, {}] },
  ]);
  const events = await chatEvents(server.url, body);
  expect(events[1]).toContain('"logprobs":{"content":[{"token":"one"');
});

test('a demanded tool is called', async () => {
  const { choices } = await chat(server.url, {
    messages: said('a'),
    tools: [{ type: 'function', function: { name: 'look' } }],
    tool_choice: 'required',
  });
  expect(choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { tool_calls: [{ function: { name: 'look', arguments: '{}' } }] },
  });
});

test('tools are refused when the server cannot choose them', async () => {
  const plain = await simulator({ enableAutoToolChoice: false });
  const tools = [{ type: 'function', function: { name: 'look' } }];
  const answer = await chat(plain.url, { messages: said('a'), tools });
  expect(answer.error?.message).toMatch(/^"auto" tool choice requires --enable-auto-tool-choice/);
  expect(
    (await chat(plain.url, { messages: said('a'), tools, tool_choice: 'none', max_tokens: 1 })).error,
  ).toBeUndefined();
  await plain.close();
});

test('more tokens at least than at most are refused', async () => {
  const answer = await chat(server.url, { messages: said('a'), max_tokens: 5, min_tokens: 6 });
  expect(answer.error?.message).toBe('min_tokens must be less than or equal to max_tokens=5, got 6.');
});

test.each([
  ['left', ' there'],
  ['right', 'hello'],
])('a truncated prompt loses its %s side', async (truncation_side, kept) => {
  const body = {
    prompt: 'hello there',
    truncate_prompt_tokens: 1,
    truncation_side,
    echo: true,
    max_tokens: 0,
  };
  const answer = await complete(body);
  expect(answer.choices[0]?.text).toBe(kept);
  expect(answer.usage.prompt_tokens).toBe(1);
});

test('a completion shows where each token begins, with its logprobs', async () => {
  const { choices } = await complete({ prompt: '!sim {"text": "one two"}', logprobs: 1 });
  expect(choices[0]?.logprobs).toMatchObject({ text_offset: [0, 3], tokens: ['one', ' two'] });
});

test('a completion without a cap has sixteen tokens, whatever max_completion_tokens says', async () => {
  const { usage } = await complete({ prompt: 'hello there', max_completion_tokens: 3 });
  expect(usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 16 });
});

test('a completion takes a text, texts, ids and lists of ids', async () => {
  const prompts = ['hello there', ['hello there', 'one'], [14990, 1052], [[14990, 1052], [606]]];
  const answers = await Promise.all(prompts.map((prompt) => complete({ prompt, max_tokens: 1 })));
  expect(answers.map(({ usage, choices }) => [usage.prompt_tokens, choices.length])).toEqual([
    [2, 1],
    [3, 2],
    [2, 1],
    [3, 2],
  ]);
  expect(answers[2]?.choices[0]?.text).toBe(answers[0]?.choices[0]?.text);
});

test('a completion echoes its prompt, and only that with a cap of none', async () => {
  const echoed = await complete({ prompt: 'hello there', echo: true, max_tokens: 1 });
  expect(echoed.choices[0]?.text).toMatch(/^hello there ./);
  const alone = await complete({ prompt: 'hello there', echo: true, max_tokens: 0 });
  expect(alone.choices[0]?.text).toBe('hello there');
});

test('a streamed completion ends with its usage', async () => {
  const answer = await post(`${server.url}/v1/completions`, {
    prompt: '!sim {"text": "one two"}',
    stream: true,
    stream_options: { include_usage: true },
  });
  const events = eventsOf(await answer.text());
  expect(events.at(-1)).toBe('[DONE]');
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event));
  expect(chunks.map((chunk) => chunk.choices[0]?.text)).toEqual(['one', ' two', undefined]);
  expect(chunks.at(-1).usage.completion_tokens).toBe(2);
});

test('a client that leaves ends its generation at once', async () => {
  const slow = await simulator({ models: [{ id: 'tiny', maxModelLen: 4096 }], chunkDelayMs: 20 });
  const load = async (): Promise<string> => (await fetch(`${slow.url}/load`)).text();
  for (const stream of [true, false]) {
    const leave = new AbortController();
    const answer = post(
      `${slow.url}/v1/chat/completions`,
      { messages: said('a'), stream },
      { signal: leave.signal },
    );
    const settled = Promise.allSettled([answer]);
    await expect.poll(load).toBe('{"server_load":1}');
    if (stream) await answer;
    leave.abort();
    await expect.poll(load, { timeout: 300, interval: 20 }).toBe('{"server_load":0}');
    await settled;
  }
  const metrics = await (await fetch(`${slow.url}/metrics`)).text();
  expect(metrics).toContain('vllm:num_requests_running{engine="0",model_name="tiny"} 0\n');
  await slow.close();
});
