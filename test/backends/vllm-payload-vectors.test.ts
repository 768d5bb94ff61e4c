import { expect, test } from 'vitest';
import type { RawObject } from '../../src/body/raw-object.js';
import { canonical } from './support/canonical-json.js';
import { callOf, contextFor, failed, failureOf, HELLO, requestOf, vllm } from './support/contexts.js';
import { counted, listen } from './support/tokenizer-stub.js';
import { child, vectorsOf } from './support/vector-file.js';

const vectors = vectorsOf('tokenize_payload.json').filter(({ input }) => input.value('fn') === 'payload');

/** vLLM renders these like `auto` and like no format at all, which was measured: they are counted exactly. */
function isStricterThanTheServer(request: RawObject): boolean {
  const choice = request.value('tool_choice');
  const rendersTools = choice === 'none' || choice === 'required' || (typeof choice === 'object' && choice);
  return Boolean(rendersTools) || request.has('response_format');
}

for (const { name, input, expected } of vectors) {
  test(`asks /tokenize for exactly what the server renders: ${name}`, async () => {
    const request = child(input, 'request');
    const stub = await listen((response) => counted(response, Number(input.value('server_count'))));
    const backend = vllm(contextFor(stub.url));
    const call = callOf({ contextLength: Number(input.value('context_length')) });
    const count = backend.count(request, call);

    if (expected.value('result') === 'fallback') {
      if (isStricterThanTheServer(request)) {
        await expect(count).resolves.toMatchObject({ tokens: input.value('server_count') });
      } else {
        expect(await failureOf(count)).toEqual(failed('unsupported'));
        expect(stub.arrived).toHaveLength(0);
      }
      return;
    }
    expect(await count).toEqual({ tokens: expected.value('count'), contextLength: call.contextLength });
    const arrived = stub.arrived.find(({ path }) => path === '/tokenize');
    expect(arrived?.method).toBe('POST');
    expect(arrived?.path).toBe('/tokenize');
    expect(arrived?.headers['content-type']).toBe('application/json');
    expect(canonical(Buffer.from(arrived?.body ?? ''))).toEqual(canonical(expected.raw('payload') as Buffer));
  });
}

test('the vector file has every kind of payload case', () => {
  expect(vectors.length).toBeGreaterThan(120);
});

test('numbers, key order and escapes of the request reach the counter as they were sent', async () => {
  const messages =
    '[ {"role":"user","content":"\\u00e9\\/\\ud800","x":1.0,"y":12345678901234567890,"10":-0.0,"9":1e2} ]';
  const tools =
    '[{"type":"function","function":{"name":"t","parameters":{"404":{},"200":{},"__proto__":{}}}}]';
  const stub = await listen((response) => counted(response, 7));
  const backend = vllm(contextFor(stub.url));
  await backend.count(requestOf(`{"model":"m","messages":${messages},"tools":${tools}}`), callOf());
  expect(stub.arrived[0]?.body).toBe(
    `{"model":"m","messages":${messages},"tools":${tools},"add_generation_prompt":true}`,
  );
});

const RENAMES = [
  [
    'in every message',
    '[{"reasoning_content":"a","n":1.0},{"reasoning_content":"b","reasoning":null}, 5 ]',
    '[{"reasoning":"a","n":1.0},{"reasoning":"b"}, 5 ]',
  ],
  ['under an escaped key', '[{"reasoning\\u005fcontent":"a","x":1.0}]', '[{"reasoning":"a","x":1.0}]'],
  [
    'the last of several',
    '[{"reasoning_content":"a","reasoning_content":"b"}]',
    '[{"reasoning":"a","reasoning":"b"}]',
  ],
] as const;
for (const [how, sent, rendered] of RENAMES) {
  test(`reasoning_content is renamed ${how}, all other bytes stay`, async () => {
    const stub = await listen((response) => counted(response, 7));
    await vllm(contextFor(stub.url)).count(requestOf(`{"messages":${sent}}`), callOf());
    expect(stub.arrived[0]?.body).toBe(`{"messages":${rendered},"add_generation_prompt":true}`);
  });
}

test('every switch of the template reaches the counter (bug case 18, mlcommons/endpoints#441)', async () => {
  const switches = {
    chat_template_kwargs: { enable_thinking: false },
    continue_final_message: true,
    add_generation_prompt: false,
    mm_processor_kwargs: { num_crops: 4 },
    chat_template: '{{ x }}',
    add_special_tokens: true,
  };
  const stub = await listen((response) => counted(response, 7));
  await vllm(contextFor(stub.url)).count(requestOf({ ...HELLO, ...switches }), callOf());
  expect(JSON.parse(stub.arrived[0]?.body ?? '')).toEqual({ ...HELLO, ...switches });
});

for (const [sent, wanted] of [
  ['{"a":1}', '{"a":1,"reasoning_effort":"none","enable_thinking":false}'],
  ['null', '{"reasoning_effort":"none","enable_thinking":false}'],
  ['{"enable_thinking":null,"b":1.0}', '{"enable_thinking":null,"b":1.0,"reasoning_effort":"none"}'],
  ['{"reasoning_effort":"x"}', '{"reasoning_effort":"none","enable_thinking":false}'],
] as const) {
  test(`reasoning_effort none turns thinking off where nothing is said about it: ${sent}`, async () => {
    const stub = await listen((response) => counted(response, 7));
    const request = requestOf(`{"messages":[],"reasoning_effort":"none","chat_template_kwargs":${sent}}`);
    await vllm(contextFor(stub.url)).count(request, callOf());
    expect(stub.arrived[0]?.body).toContain(`"chat_template_kwargs":${wanted}`);
  });
}

test('of duplicate members the last one is counted, as the server reads it', async () => {
  const stub = await listen((response) => counted(response, 7));
  const backend = vllm(contextFor(stub.url));
  await backend.count(requestOf('{"messages":[1],"model":"a","messages":[2],"model":"b"}'), callOf());
  expect(JSON.parse(stub.arrived[0]?.body ?? '')).toEqual({
    model: 'b',
    messages: [2],
    add_generation_prompt: true,
  });
});

test('a request without a model is counted with the first model of the server', async () => {
  const stub = await listen((response) => counted(response, 7));
  const backend = vllm(contextFor(stub.url));
  expect(await backend.count(requestOf({ messages: HELLO.messages }), callOf())).toMatchObject({ tokens: 7 });
  expect(JSON.parse(stub.arrived[0]?.body ?? '')).not.toHaveProperty('model');
});

test('token ids that are handed over are the prompt, whatever the tool choice', async () => {
  const stub = await listen((response) => counted(response, 7));
  const tools = [{ type: 'function', function: { name: 't' } }];
  const odd = { ...HELLO, tools, tool_choice: 'AUTO' };
  const backend = vllm(contextFor(stub.url));
  expect(await failureOf(backend.count(requestOf(odd), callOf()))).toEqual(failed('unsupported'));
  const handed = { ...odd, kv_transfer_params: { prompt_token_ids: [1, 2] } };
  expect(await backend.count(requestOf(handed), callOf())).toMatchObject({ tokens: 2 });
  for (const ids of [[], [1.5], [null]]) {
    const none = { ...HELLO, kv_transfer_params: { prompt_token_ids: ids } };
    expect(await failureOf(backend.count(requestOf(none), callOf()))).toEqual(failed('unsupported'));
  }
  const foreign = { ...HELLO, kv_transfer_params: 'x' };
  expect(await backend.count(requestOf(foreign), callOf())).toMatchObject({ tokens: 7 });
});

test('a request without messages is not counted', async () => {
  const stub = await listen((response) => counted(response, 7));
  const backend = vllm(contextFor(stub.url));
  expect(await failureOf(backend.count(requestOf({ model: 'm', prompt: 'x' }), callOf()))).toEqual(
    failed('unsupported'),
  );
  expect(stub.arrived).toHaveLength(0);
});
