import { expect, test } from 'vitest';
import { callOf, contextFor, failureOf, requestOf, vllm } from './support/contexts.js';
import { type Recorded, recordings } from './support/recordings.js';
import { json, listen, raw } from './support/tokenizer-stub.js';

const all = recordings('v0.32-endpoints');
const generations = all.filter(({ path }) =>
  ['/v1/responses', '/v1/messages', '/v1/completions'].includes(path),
);
const answers = new Map(all.map((one) => [`${one.path} ${one.request.bytes}`, one]));

const reported = ({ body }: Recorded): number => {
  const { usage } = JSON.parse(body);
  return usage.input_tokens ?? usage.prompt_tokens;
};

/** A server that answers what the real one did to the very same request. */
const recorded = (version: string) =>
  listen((response, { path, body }) => {
    if (path === '/version') return json(response, { version });
    const answer = answers.get(`${path} ${body}`);
    return answer === undefined ? json(response, {}, 501) : raw(response, answer.body, answer.status);
  }, null);

// Their usage is the sum of all prompts; what has to fit is the largest.
const LARGEST = new Map([
  ['cmpl-list', 5],
  ['cmpl-ids-lists', 3],
]);

test('the count is the usage that a real vLLM reported, on every endpoint', async () => {
  const server = await recorded('0.32.0');
  const backend = vllm(contextFor(server.url));
  for (const { name, path, request, ...answer } of generations) {
    const { tokens } = await backend.count(request, callOf({ configured: false, path }));
    const usage = reported({ name, path, request, ...answer });
    expect(tokens, name).toBe(LARGEST.get(name) ?? usage);
  }
  expect(generations).toHaveLength(49);
});

test('what an older vLLM renders in another way is estimated, not counted wrong', async () => {
  const server = await recorded('0.22.1');
  const backend = vllm(contextFor(server.url));
  const responses = generations.filter(({ path }) => path === '/v1/responses');
  for (const { path, request } of responses) {
    const failure = await failureOf(backend.count(request, callOf({ configured: false, path })));
    expect(failure.code).toBe('unsupported');
  }
  expect(server.arrived.map(({ path }) => path)).toEqual(['/version']);
  const count = (body: object) =>
    backend.count(requestOf(body), callOf({ configured: false, path: '/v1/messages' }));
  const basic = { model: 'tiny', max_tokens: 2, messages: [{ role: 'user', content: 'hello there' }] };
  expect((await count(basic)).tokens).toBe(10);
  for (const more of [{ thinking: { type: 'disabled' } }, { output_config: { effort: 'high' } }])
    expect((await failureOf(count({ ...basic, ...more }))).code).toBe('unsupported');
});
