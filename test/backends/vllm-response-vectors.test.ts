import { expect, test } from 'vitest';
import { arrayElements } from '../../src/body/members.js';
import { RawObject } from '../../src/body/raw-object.js';
import { callOf, contextFor, failureOf, HELLO, requestOf, vllm } from './support/contexts.js';
import { counted, listen, raw } from './support/tokenizer-stub.js';
import { child, vectorsOf } from './support/vector-file.js';

const vectors = vectorsOf('tokenize_payload.json');
const of = (fn: string) => vectors.filter(({ input }) => input.value('fn') === fn);

// Answers in UTF-16 do not come from vLLM, and are not pinned.
for (const { name, input, expected } of of('response').filter(({ name }) => name !== 'body utf16')) {
  test(`reads an answer or refuses it: ${name}`, async () => {
    const stub = await listen((response) => raw(response, String(input.value('body'))));
    const backend = vllm(contextFor(stub.url));
    const contextLength = Number(input.value('context_length'));
    const count = backend.count(requestOf(HELLO), callOf({ contextLength }));
    if (expected.value('result') === 'counted') {
      expect(await count).toEqual({ tokens: expected.value('count'), contextLength });
    } else {
      expect(await failureOf(count)).toMatchObject({
        code: /^max_model_len [1-9]\d{0,18}$/.test(name) ? 'window_mismatch' : 'bad_answer',
      });
    }
  });
}

for (const { name, input, expected } of of('cache')) {
  test(`keeps counts: ${name}`, async () => {
    const answers: unknown = input.value('answers');
    const stub = await listen((response, _arrived, index) => {
      const answer: unknown = Array.isArray(answers)
        ? answers[index]
        : { count: index + 1, max_model_len: 65_536 };
      if (typeof answer === 'string') response.destroy();
      else counted(response, Number(Reflect.get(Object(answer), 'count')));
    });
    const backend = vllm(contextFor(stub.url, { cacheEntries: Number(input.value('cache_entries')) }));
    const wanted = stepsOf(expected);
    for (const [i, step] of stepsOf(input).entries()) {
      const want = wanted[i] as RawObject;
      if (step.has('clear')) backend.clearCache();
      else {
        const contextLength = Number(step.value('context_length') ?? 65_536);
        const count = backend.count(child(step, 'request'), callOf({ contextLength }));
        if (want.has('error_type')) await expect(count).rejects.toThrow();
        else expect((await count).tokens).toBe(want.value('count'));
      }
      expect(stub.arrived).toHaveLength(Number(want.value('http_calls')));
    }
  });
}

for (const { name, input, expected } of of('cache_entries')) {
  test(`refuses an odd cache size at the start: ${name}`, () => {
    expect(expected.value('ok')).toBe(false);
    const cacheEntries = input.value('value') as number;
    expect(() => vllm(contextFor('http://u', { cacheEntries }))).toThrow('tokenizer_cache_entries');
  });
}

test('every kind of case of the vector file is held, but redirects, which are never followed', () => {
  const kinds = new Set(vectors.map(({ input }) => input.value('fn')));
  kinds.delete('http');
  expect([...kinds].sort()).toEqual(['cache', 'cache_entries', 'payload', 'response']);
  expect(vectors).toHaveLength(187);
});

function stepsOf(object: RawObject): RawObject[] {
  const steps = object.raw('steps') as Buffer;
  return arrayElements(steps, { start: 0, end: steps.length }).map(({ start, end }) => {
    return RawObject.parse(steps.subarray(start, end)) as RawObject;
  });
}
