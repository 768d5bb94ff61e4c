import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { chat, chatEvents, chunksOf, countOf, post, said } from './ask.js';

let server: TestSimulator;

beforeAll(async () => {
  server = await simulator({ models: [{ id: 'tiny', maxModelLen: 4096 }] });
});
afterAll(() => server.close());

function scripted(script: object): { messages: object[] } {
  return { messages: said(`please\n!sim ${JSON.stringify(script)}`) };
}

test('a scripted text is the answer, and its tokens are the completion tokens', async () => {
  const text = 'Grüße, 你好 🙂!';
  const answer = await chat(server.url, scripted({ text }));
  expect(answer.choices[0]?.message.content).toBe(text);
  expect(answer.choices[0]?.finish_reason).toBe('stop');
  expect(answer.usage.completion_tokens).toBe(await countOf(server.url, text));
});

test('a streamed text arrives whole, though a character may take several tokens', async () => {
  const text = 'x🙂🙃 ɸʘ 𓀀𓁐';
  const chunks = chunksOf(await chatEvents(server.url, scripted({ text })));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content).join('')).toBe(text);
});

test('a scripted text above the cap is cut there', async () => {
  const answer = await chat(server.url, { ...scripted({ text: 'one two three four' }), max_tokens: 2 });
  expect(answer.choices[0]).toMatchObject({ message: { content: 'one two' }, finish_reason: 'length' });
  expect(answer.usage.completion_tokens).toBe(2);
});

test('a scripted length ends by itself', async () => {
  const answer = await chat(server.url, scripted({ tokens: 21 }));
  expect(answer.choices[0]?.finish_reason).toBe('stop');
  expect(answer.usage.completion_tokens).toBe(21);
});

test('reasoning is answered apart from the text', async () => {
  const script = { reasoning: 'let me see', text: 'yes' };
  const { message } = (await chat(server.url, scripted(script))).choices[0] ?? {};
  expect(message).toMatchObject({ reasoning: 'let me see', content: 'yes' });
  const deltas = chunksOf(await chatEvents(server.url, scripted(script))).map(
    (chunk) => chunk.choices[0]?.delta,
  );
  expect(deltas.map((delta) => delta?.reasoning ?? '').join('')).toBe('let me see');
  expect(deltas.map((delta) => delta?.content ?? '').join('')).toBe('yes');
});

test('tool calls come whole in JSON', async () => {
  const answer = await chat(server.url, scripted({ tool_calls: [{ name: 'look', arguments: { at: 1 } }] }));
  expect(answer.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: {
      content: null,
      tool_calls: [{ type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
    },
  });
});

test('streamed tool calls name themselves first, then their arguments come in fragments', async () => {
  const calls = [
    { id: 'a', name: 'look', arguments: { at: 'the window' } },
    { id: 'b', name: 'go', arguments: '{}' },
  ];
  const chunks = chunksOf(await chatEvents(server.url, scripted({ text: 'hm', tool_calls: calls })));
  const fragments = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
  const joined = (index: number): string =>
    fragments
      .filter((one) => one.index === index)
      .map((one) => one.function.arguments)
      .join('');
  expect(
    fragments.filter((one) => one.id !== undefined).map((one) => [one.index, one.id, one.function.name]),
  ).toEqual([
    [0, 'a', 'look'],
    [1, 'b', 'go'],
  ]);
  expect([joined(0), joined(1)]).toEqual(['{"at":"the window"}', '{}']);
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
});

test('each tool round since the message has its own script', async () => {
  const [question] = said('!sim {"rounds": [{"tool_calls": [{"name": "look"}]}, {"text": "done"}]}');
  const first = await chat(server.url, { messages: [question] });
  expect(first.choices[0]?.message.tool_calls?.[0]?.function.name).toBe('look');
  const history = [
    question,
    { role: 'assistant', content: null, tool_calls: first.choices[0]?.message.tool_calls },
    { role: 'tool', tool_call_id: first.choices[0]?.message.tool_calls?.[0]?.id, content: 'seen' },
  ];
  const second = await chat(server.url, { messages: history });
  expect(second.choices[0]?.message.content).toBe('done');
});

test('only the last user message is a script', async () => {
  const messages = [
    ...said('!sim {"text": "old"}'),
    { role: 'assistant', content: 'old' },
    ...said('and now?'),
  ];
  const answer = await chat(server.url, { messages, max_tokens: 3 });
  expect(answer.choices[0]?.message.content).not.toBe('old');
});

test('a status and an error are answered in the shape of vLLM', async () => {
  const answer = await post(`${server.url}/v1/chat/completions`, scripted({ status: 503, error: 'busy' }));
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({
    error: { message: 'busy', type: 'InternalServerError', param: null, code: 503 },
  });
});

test('an error without a status comes after the streamed text', async () => {
  const events = await chatEvents(server.url, scripted({ text: 'so far', error: 'out of memory' }));
  expect(events.at(-1)).toBe('[DONE]');
  expect(chunksOf(events).at(-1)?.error?.message).toBe('out of memory');
  expect(
    chunksOf(events)
      .map((chunk) => chunk.choices?.[0]?.delta.content ?? '')
      .join(''),
  ).toBe('so far');
});

test('a cut stream breaks off after so many chunks, without an end', async () => {
  const answer = await post(`${server.url}/v1/chat/completions`, {
    ...scripted({ text: 'one two three four five', cut_after_chunks: 2 }),
    stream: true,
  });
  let received = '';
  const read = async (): Promise<void> => {
    for await (const part of answer.body ?? []) received += Buffer.from(part).toString('utf8');
  };
  await expect(read()).rejects.toThrow();
  expect(received).toContain('" two"');
  expect(received).not.toContain('" three"');
  expect(received).not.toContain('[DONE]');
});

test('a cut answer in one piece breaks off in the middle of its body', async () => {
  const answer = await post(
    `${server.url}/v1/chat/completions`,
    scripted({ text: 'one two', cut_after_chunks: 1 }),
  );
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
});

test('a hanging answer says nothing until the client gives up', async () => {
  const leave = new AbortController();
  const answer = post(`${server.url}/v1/chat/completions`, scripted({ hang: true }), {
    signal: leave.signal,
  });
  await expect.poll(() => load()).toBe(1);
  leave.abort();
  await expect(answer).rejects.toThrow();
  await expect.poll(() => load()).toBe(0);
});

async function load(): Promise<number> {
  return ((await (await fetch(`${server.url}/load`)).json()) as { server_load: number }).server_load;
}

test('a stream may fall silent after some chunks', async () => {
  const leave = new AbortController();
  const answer = await post(
    `${server.url}/v1/chat/completions`,
    { ...scripted({ text: 'one two three', hang: 1 }), stream: true },
    { signal: leave.signal },
  );
  let received = '';
  await expect(async () => {
    for await (const part of answer.body ?? []) {
      received += Buffer.from(part).toString('utf8');
      if (received.includes('"one"')) leave.abort();
    }
  }).rejects.toThrow();
  expect(received).not.toContain('" two"');
});

test('tool calls may be scripted in the shape of a request', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at": 1}' } };
  const answer = await chat(server.url, scripted({ tool_calls: [call] }));
  expect(answer.choices[0]?.message.tool_calls).toEqual([call]);
});

test('thoughts may go before made-up text', async () => {
  const answer = await chat(server.url, scripted({ reasoning: 'hm', tokens: 4 }));
  expect(answer.choices[0]?.message).toMatchObject({
    reasoning: 'hm',
    content: expect.stringMatching(/^( [a-z]+){4}$/),
  });
});

test('a member of a wrong type is named', async () => {
  const answer = await chat(server.url, scripted({ text: 5 }));
  expect(answer.error).toMatchObject({ code: 400, message: expect.stringContaining('at text') });
});

test('a script that is no JSON is refused, not ignored', async () => {
  const answer = await chat(server.url, { messages: said('!sim {"text": }') });
  expect(answer.error).toMatchObject({ code: 400, message: '!sim: Expecting value' });
  const open = await chat(server.url, { messages: said('!sim {"text": "x"') });
  expect(open.error).toMatchObject({ code: 400, message: expect.stringContaining('!sim: ') });
});
