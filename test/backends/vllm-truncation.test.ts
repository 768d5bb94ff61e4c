import { expect, test } from 'vitest';
import { callOf, contextFor, HELLO, requestOf, vllm } from './support/contexts.js';
import { counted, listen } from './support/tokenizer-stub.js';
import { child, vectorsOf } from './support/vector-file.js';

const vectors = vectorsOf('budget.json').filter(({ name }) => /^(truncate|kv prompt ids)/.test(name));

for (const { name, input, expected } of vectors) {
  test(`lowers count and cap to what is left of the prompt: ${name}`, async () => {
    const settings = child(input, 'settings');
    const contextLength = Number(settings.value('context_length'));
    const [window, reserve] = [Number(settings.value('W')), Number(settings.value('R'))];
    const stub = await listen((response) =>
      counted(response, Number(child(input, 'counter').value('tokens')), contextLength),
    );
    const backend = vllm(contextFor(stub.url));
    const request = child(input, 'request');
    const { tokens } = await backend.count(request, callOf({ contextLength }));
    const limit = backend.outputBudgetLimit?.(request, contextLength) ?? Number.POSITIVE_INFINITY;
    const cap = Math.min(window - tokens, limit);
    expect(cap >= reserve ? cap : undefined).toBe(expected.value('value'));
  });
}

test('the vector file has every kind of truncation', () => {
  expect(vectors.length).toBeGreaterThan(30);
});

test('a truncation longer than the prompt does not lengthen it', async () => {
  const stub = await listen((response) => counted(response, 5));
  const request = requestOf({ ...HELLO, truncate_prompt_tokens: 6 });
  expect(await vllm(contextFor(stub.url)).count(request, callOf())).toMatchObject({ tokens: 5 });
});

test('a truncation beyond the context leaves no room rather than less than none', () => {
  const backend = vllm(contextFor('http://127.0.0.1:9'));
  expect(backend.outputBudgetLimit?.(requestOf({ ...HELLO, truncate_prompt_tokens: 99_999 }), 4096)).toBe(0);
  expect(backend.outputBudgetLimit?.(requestOf(HELLO), 4096)).toBeUndefined();
});

test('images are never cut from the count (bug case 19, vllm-project/vllm#20778)', async () => {
  const stub = await listen((response) => counted(response, 1500));
  const content = [
    { type: 'text', text: 'see' },
    { type: 'image_url', image_url: { url: 'data:,' } },
  ];
  const request = requestOf({ messages: [{ role: 'user', content }], truncate_prompt_tokens: 10 });
  expect(await vllm(contextFor(stub.url)).count(request, callOf())).toMatchObject({ tokens: 1500 });
  expect(JSON.parse(stub.arrived[0]?.body ?? '').messages[0].content).toEqual(content);
});
