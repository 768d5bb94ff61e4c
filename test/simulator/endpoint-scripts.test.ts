import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simulator, type TestSimulator } from '../support/simulator.js';

let server: TestSimulator;

beforeAll(async () => {
  server = await simulator({ models: [{ id: 'tiny', maxModelLen: 4096 }], reasoningParser: 'qwen3' });
});
afterAll(() => server.close());

const script = {
  reasoning: 'what now',
  text: 'I look.',
  tool_calls: [
    { id: 'a', name: 'look', arguments: { at: 1 } },
    { id: 'b', name: 'look', arguments: { at: 2 } },
  ],
};
const text = `look\n!sim ${JSON.stringify(script)}`;
const messages = { model: 'tiny', max_tokens: 900, messages: [{ role: 'user', content: text }] };
const response = { model: 'tiny', max_output_tokens: 900, input: text };

async function post(path: string, body: object): Promise<string> {
  const answer = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return await answer.text();
}

const events = (stream: string) =>
  stream
    .split('\n\n')
    .filter((event) => event.includes('data: {'))
    .map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)));

describe('a script with thought, text and two calls', () => {
  test('is a message of four blocks', async () => {
    const answer = JSON.parse(await post('/v1/messages', messages));
    expect(answer).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'what now' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } },
        { type: 'tool_use', id: 'b', name: 'look', input: { at: 2 } },
      ],
      stop_reason: 'tool_use',
    });
  });

  test('is the same message in a stream, one block after the other', async () => {
    const told = events(await post('/v1/messages', { ...messages, stream: true }));
    const blocks: string[] = [];
    for (const { type, index, content_block, delta } of told) {
      if (type === 'content_block_start') blocks[index] = `${content_block.type}:`;
      if (type !== 'content_block_delta') continue;
      blocks[index] += delta.thinking ?? delta.text ?? delta.partial_json ?? '';
    }
    expect(blocks).toEqual(['thinking:what now', 'text:I look.', 'tool_use:{"at":1}', 'tool_use:{"at":2}']);
    const types = told.map(({ type }) => type);
    expect(types.filter((type) => type === 'content_block_stop')).toHaveLength(4);
    expect(types.slice(-2)).toEqual(['message_delta', 'message_stop']);
    expect(told.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
  });

  test('is a response of four items, and the same in a stream', async () => {
    const shown = [
      { type: 'reasoning', content: [{ text: 'what now' }] },
      { type: 'message', content: [{ text: 'I look.' }] },
      { type: 'function_call', call_id: 'a', arguments: '{"at":1}' },
      { type: 'function_call', call_id: 'b', arguments: '{"at":2}' },
    ];
    const whole = JSON.parse(await post('/v1/responses', response));
    expect(whole).toMatchObject({ status: 'completed', output: shown });
    const told = events(await post('/v1/responses', { ...response, stream: true }));
    expect(told.map(({ sequence_number }) => sequence_number)).toEqual([...told.keys()]);
    expect(told.at(-1)).toMatchObject({ type: 'response.completed', response: { output: shown } });
    const done = told.filter(({ type }) => type === 'response.output_item.done');
    expect(done.map(({ item, output_index }) => ({ item, output_index }))).toMatchObject(
      shown.map((item, output_index) => ({ item, output_index })),
    );
  });
});

test('a round of calls is told by the results that follow the message', async () => {
  const rounds = `!sim ${JSON.stringify({ rounds: [{ tool_calls: [{ id: 'a', name: 'look' }] }, { text: 'Seen.' }] })}`;
  const inMessages = await post('/v1/messages', {
    ...messages,
    messages: [
      { role: 'user', content: rounds },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'a wall' }] },
    ],
  });
  expect(JSON.parse(inMessages)).toMatchObject({ content: [{ text: 'Seen.' }], stop_reason: 'end_turn' });
  const inResponses = await post('/v1/responses', {
    ...response,
    input: [
      { role: 'user', content: rounds },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: 'a wall' },
    ],
  });
  expect(JSON.parse(inResponses)).toMatchObject({ output: [{ content: [{ text: 'Seen.' }] }] });
});

test.each(['/v1/messages', '/v1/responses'])('%s fails as it is scripted', async (path) => {
  const failing = `!sim ${JSON.stringify({ status: 503, error: 'busy', headers: { 'retry-after': '7' } })}`;
  const answer = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(
      path === '/v1/messages'
        ? { ...messages, messages: [{ role: 'user', content: failing }] }
        : { ...response, input: failing },
    ),
  });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('7');
  expect(await answer.json()).toMatchObject({ error: { type: 'InternalServerError', message: 'busy' } });
});

test('an error in the middle of a stream is told as the server tells it', async () => {
  const failing = `!sim ${JSON.stringify({ text: 'one', error: 'out of memory' })}`;
  const told = events(
    await post('/v1/messages', { ...messages, messages: [{ role: 'user', content: failing }], stream: true }),
  );
  expect(told.at(-1)).toEqual({ type: 'error', error: { type: 'internal_error', message: 'out of memory' } });
  await expect(post('/v1/responses', { ...response, input: failing, stream: true })).rejects.toThrow();
});
