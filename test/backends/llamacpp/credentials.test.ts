import { expect, test } from 'vitest';
import type { BackendContext } from '../../../src/backends/contract.js';
import { callOf, contextFor, HELLO, requestOf } from '../support/contexts.js';
import { llamacpp, llamacppServer } from '../support/llamacpp-stub.js';

const COUNTING = '/v1/chat/completions/input_tokens';
const CALL = callOf({ credential: 'Bearer client', configured: false, contextLength: undefined });

async function asked(tokenizer: (other: string) => Partial<BackendContext['tokenizer']>) {
  const [upstream, other] = [await llamacppServer(), await llamacppServer()];
  const backend = llamacpp(contextFor(upstream.url, tokenizer(other.url)));
  await backend.count(requestOf({ ...HELLO, model: 'm' }), CALL);
  return {
    upstream: upstream.at(COUNTING).map(({ headers }) => headers.authorization),
    other: other.at(COUNTING).map(({ headers }) => headers.authorization),
    models: upstream.at('/v1/models').map(({ headers }) => headers.authorization),
  };
}

test("the upstream gets the client's credential with the count too", async () => {
  expect(await asked(() => ({}))).toEqual({
    upstream: ['Bearer client'],
    other: [],
    models: ['Bearer client'],
  });
});

test.each(['', '/', '/v1', COUNTING])('a server beside it, given as HOST%s, never sees it', async (end) => {
  expect(await asked((other) => ({ url: other + end }))).toEqual({
    upstream: [],
    other: [undefined],
    models: ['Bearer client'],
  });
});

test('a configured key goes to that server, and not to the upstream', async () => {
  expect(await asked((other) => ({ url: other, apiKey: 'k' }))).toEqual({
    upstream: [],
    other: ['Bearer k'],
    models: ['Bearer client'],
  });
});

test('one model may be counted elsewhere', async () => {
  const urlByModel = (other: string) => new Map([['m', other]]);
  expect((await asked((other) => ({ urlByModel: urlByModel(other) }))).other).toEqual([undefined]);
});
