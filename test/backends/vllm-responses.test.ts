import { describe, expect, test } from 'vitest';
import { callOf, contextFor, failed, failureOf, requestOf, vllm } from './support/contexts.js';
import { counted, json, listen } from './support/tokenizer-stub.js';
import { OPEN, vllmServer } from './support/vllm-server.js';

const response = callOf({ ...OPEN, path: '/v1/responses' });

describe('a response', () => {
  const user = { role: 'user', content: 'hi' };

  test('is counted as the chat that renders the same, from its own bytes', async () => {
    const stub = await vllmServer();
    const tool = '{"type":"function","name":"t","parameters":{"b":1.0,"a":9007199254740993},"strict":null}';
    const items = [
      '{"role":"user","content":[{"type":"input_text","text":"\\u00e9"}]}',
      '{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}',
      '{"type":"function_call","call_id":"c","name":"t","arguments":"{}"}',
      '{"type":"function_call_output","call_id":"c","output":"5"}',
    ];
    const rest = '"model":"m","instructions":"be brief","reasoning":{"effort":"low"},"max_output_tokens":9';
    const body = `{"input":[${items}],"tools":[${tool},{"type":"web_search"}],${rest}}`;
    expect(await vllm(contextFor(stub.url)).count(requestOf(body), response)).toEqual({
      tokens: 12,
      contextLength: 65_536,
    });
    const [, sent] = stub.arrived;
    const call = '{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}';
    expect(sent?.body).toBe(
      `{"model":"m","messages":[${[
        '{"role":"system","content":"be brief"}',
        '{"role":"user","content":[{"type":"text","text":"\\u00e9"}]}',
        `{"role":"assistant","reasoning":"hm","tool_calls":[${call}]}`,
        '{"role":"tool","content":"5","tool_call_id":"c"}',
      ]}],"tools":[{"type":"function","function":{"name":"t","parameters":{"b":1.0,"a":9007199254740993}}}],` +
        '"add_special_tokens":true,' +
        '"chat_template_kwargs":{"reasoning_effort":"low","enable_thinking":true},"add_generation_prompt":true}',
    );
  });

  test.each([
    ['an image', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] }],
    ['a file', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'x' }] }] }],
    ['an item of an unknown type', { input: [user, { type: 'item_reference', id: 'x' }] }],
    ['an item that is none', { input: [user, 'x'] }],
    ['a message of an unknown role', { input: [{ role: 'critic', content: 'x' }] }],
    ['a message without content', { input: [{ role: 'user' }] }],
    [
      'an answer of several parts',
      {
        input: [
          {
            role: 'assistant',
            content: [
              { type: 'output_text', text: 'a' },
              { type: 'output_text', text: 'b' },
            ],
          },
        ],
      },
    ],
    ['a refusal', { input: [{ role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }] }],
    ['an unfinished answer', { input: [user, { role: 'assistant', status: 'incomplete', content: 'x' }] }],
    ['a result that is no text', { input: [{ type: 'function_call_output', call_id: 'c', output: [] }] }],
    ['encrypted reasoning', { input: [{ type: 'reasoning', summary: [], encrypted_content: 'x' }] }],
    ['reasoning without a summary', { input: [{ type: 'reasoning' }] }],
    [
      'a call in a namespace',
      { input: [{ type: 'function_call', call_id: 'c', name: 'f', namespace: 'n', arguments: '' }] },
    ],
    ['a custom tool', { input: 'x', tools: [{ type: 'custom', name: 'c' }] }],
    [
      'a choice among tools',
      { input: 'x', tools: [{ type: 'function', name: 'c' }], tool_choice: { type: 'allowed_tools' } },
    ],
    ['token ids of a prefill', { input: 'x', kv_transfer_params: { prompt_token_ids: [1] } }],
  ])('with %s is not certain, so it is not counted', async (_what, body) => {
    const stub = await vllmServer();
    const count = vllm(contextFor(stub.url)).count(requestOf(body), response);
    expect(await failureOf(count)).toEqual(failed('unsupported'));
    expect(stub.arrived).toHaveLength(0);
  });

  test.each(['0.26.1', '0.1.dev7+g0', 'nightly'])(
    'is not counted on a server of version %s',
    async (version) => {
      const stub = await vllmServer(version);
      const count = vllm(contextFor(stub.url)).count(requestOf({ input: 'x' }), response);
      expect(await failureOf(count)).toEqual(failed('unsupported'));
    },
  );

  test.each(['0.27.0', '0.33.1rc1', '1.0.0'])('is counted on a server of version %s', async (version) => {
    const stub = await vllmServer(version);
    const { tokens } = await vllm(contextFor(stub.url)).count(requestOf({ input: 'x' }), response);
    expect(tokens).toBe(12);
  });

  test('is not counted where a gateway hides the version', async () => {
    const stub = await listen((answer) => json(answer, {}, 404), null);
    const count = vllm(contextFor(stub.url)).count(requestOf({ input: 'x' }), response);
    expect(await failureOf(count)).toEqual(failed('unsupported'));
  });

  test.each([
    ['as /tokenize does', 20, { tokens: 20, contextLength: 65_536 }],
    ['otherwise', 25, { tokens: 25, contextLength: 65_536, rough: true }],
  ])('is exact only where a sample is rendered %s', async (_how, rendered, count) => {
    const stub = await listen((answer, { path }) =>
      path === '/tokenize'
        ? counted(answer, 20)
        : json(answer, { token_ids: Array.from({ length: rendered }) }),
    );
    const backend = vllm(contextFor(stub.url), { examines: true });
    expect(await backend.count(requestOf({ model: 'm', input: 'x' }), response)).toEqual(count);
  });

  test('asks for the version now and then only', async () => {
    let now = 0;
    const stub = await vllmServer();
    const backend = vllm(contextFor(stub.url), { now: () => now });
    const asked = () => stub.arrived.filter(({ path }) => path === '/version').length;
    for (const input of ['a', 'b', 'c']) await backend.count(requestOf({ input }), response);
    expect(asked()).toBe(1);
    now += 30_001;
    await backend.count(requestOf({ input: 'd' }), response);
    expect(asked()).toBe(2);
  });
});
