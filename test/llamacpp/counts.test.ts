import { afterAll, beforeAll, describe, expect } from 'vitest';
import { postChat, startProxy, type TestProxy, told } from '../support/proxy.js';
import { type ChatAnswer, realTest, SERVER, SLOT_CONTEXT } from './support/real-server.js';
import { SHAPES } from './support/shapes.js';

let proxy: TestProxy;

beforeAll(async () => {
  if (SERVER === '') return;
  proxy = await startProxy({ upstream: SERVER, backend: 'llamacpp' });
  await proxy.ready();
});

afterAll(() => proxy?.close());

describe('counts as the model reads', () => {
  realTest.for(Object.entries(SHAPES))('%s', async ([, body]) => {
    const response = await postChat(proxy.url, JSON.stringify({ ...body, max_tokens: 1 }));
    expect(response.status).toBe(200);
    const { usage } = (await response.json()) as ChatAnswer;
    expect(told(response)).toMatchObject({
      source: 'llamacpp',
      'prompt-tokens': String(usage.prompt_tokens),
      'context-length': String(SLOT_CONTEXT),
    });
  });
});
