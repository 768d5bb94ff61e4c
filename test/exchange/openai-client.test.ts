import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProxy, type TestProxy } from '../support/proxy.js';
import { simulator, type TestSimulator } from '../support/simulator.js';

let upstream: TestSimulator;
let proxy: TestProxy;
let client: OpenAI;

beforeAll(async () => {
  upstream = await simulator({ models: [{ id: 'tiny', maxModelLen: 4096 }] });
  proxy = await startProxy({ upstream: upstream.url });
  await proxy.ready();
  client = new OpenAI({ baseURL: `${proxy.url}/v1`, apiKey: 'none', maxRetries: 0 });
});

afterAll(async () => {
  await proxy.close();
  await upstream.close();
});

const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
];

test('answers the official client, whatever cap it asks for', async () => {
  const { data, response } = await client.chat.completions
    .create({
      model: 'tiny',
      max_tokens: 1_000_000,
      messages: [{ role: 'user', content: '!sim {"text":"hello there"}' }],
    })
    .withResponse();
  expect(data.choices[0]?.message.content).toBe('hello there');
  expect(response.headers.get('x-incontext-action')).toBe('clamped');
  const promptTokens = Number(response.headers.get('x-incontext-prompt-tokens'));
  expect(data.usage?.prompt_tokens).toBe(promptTokens);
  expect(response.headers.get('x-incontext-max-tokens')).toBe(String(4096 - promptTokens));
});

test('runs a tool call in a stream, and the count is what the server used', async () => {
  const script = { tool_calls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] };
  const { data: stream, response } = await client.chat.completions
    .create({
      model: 'tiny',
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 100_000,
      tools,
      messages: [{ role: 'user', content: `weather?\n!sim ${JSON.stringify(script)}` }],
    })
    .withResponse();
  let name = '';
  let args = '';
  let usage = 0;
  for await (const chunk of stream) {
    const call = chunk.choices[0]?.delta.tool_calls?.[0];
    name += call?.function?.name ?? '';
    args += call?.function?.arguments ?? '';
    usage = chunk.usage?.prompt_tokens ?? usage;
  }
  expect(name).toBe('get_weather');
  expect(JSON.parse(args)).toEqual({ city: 'Oslo' });
  expect(String(usage)).toBe(response.headers.get('x-incontext-prompt-tokens'));
});

test('an abort of the client ends the stream at once', async () => {
  const stream = await client.chat.completions.create({
    model: 'tiny',
    stream: true,
    messages: [{ role: 'user', content: '!sim {"tokens":500,"chunk_delay_ms":20}' }],
  });
  let chunks = 0;
  for await (const _chunk of stream) {
    chunks += 1;
    if (chunks === 3) stream.controller.abort();
  }
  expect(chunks).toBeLessThan(10);
});

test("gives the client the upstream's own errors in the shape it knows", async () => {
  const unknown = client.chat.completions.create({
    model: 'nope',
    messages: [{ role: 'user', content: 'x' }],
  });
  await expect(unknown).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('does not exist'),
  });
  const broken = client.chat.completions.create({ model: 'tiny', messages: [], temperature: 'hot' as never });
  await expect(broken).rejects.toMatchObject({ status: 400 });
});

test("lists the upstream's models", async () => {
  const { data } = await client.models.list();
  expect(data.map((model) => model.id)).toEqual(['tiny']);
});
