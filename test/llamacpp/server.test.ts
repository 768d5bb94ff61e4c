import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest';
import { createLlamacppBackend } from '../../src/backends/llamacpp/llamacpp-backend.js';
import { callOf, contextFor, requestOf } from '../backends/support/contexts.js';
import { postChat, startProxy, type TestProxy, told } from '../support/proxy.js';
import {
  busySlots,
  type ChatAnswer,
  post,
  realTest,
  SERVER,
  SLOT_CONTEXT,
  within,
} from './support/real-server.js';

const MESSAGES = [{ role: 'user', content: 'Count from one to two hundred in words.' }];
/** Goes on to its cap, whatever the model thinks of it. */
const ENDLESS = { messages: MESSAGES, temperature: 0, ignore_eos: true };

let proxy: TestProxy;

beforeAll(async () => {
  if (SERVER === '') return;
  proxy = await startProxy({ upstream: SERVER, backend: 'llamacpp' });
  await proxy.ready();
});

afterAll(() => proxy?.close());

function backend() {
  const made = createLlamacppBackend(contextFor(SERVER));
  onTestFinished(() => made.close?.());
  return made;
}

realTest('the window is the context of one slot, not of the server', async () => {
  const response = await postChat(proxy.url, JSON.stringify({ ...ENDLESS, max_tokens: 2 }));
  expect(told(response)).toMatchObject({
    window: String(SLOT_CONTEXT),
    'context-length': String(SLOT_CONTEXT),
  });
  await response.text();
});

realTest('a cap beyond the window is lowered to what is left of it, and the server takes it', async () => {
  const body = JSON.stringify({ ...ENDLESS, ignore_eos: false, stop: [' '], max_tokens: 100_000 });
  const response = await postChat(proxy.url, body);
  expect(response.status).toBe(200);
  const { usage } = (await response.json()) as ChatAnswer;
  expect(told(response)).toMatchObject({
    reason: 'cap_lowered',
    'max-tokens': String(SLOT_CONTEXT - usage.prompt_tokens),
  });
});

describe('reads caps as the server does', () => {
  const { coerceOutputBudget } = createLlamacppBackend(contextFor('http://127.0.0.1:1'));
  const caps = ['0', '-0', '0.5', '3.9', '2e0', 'true', 'false', '4294967299', '-4294967293'];
  realTest.for(caps)('%s', async (text) => {
    const body = JSON.stringify({ ...ENDLESS, max_tokens: 'CAP' }).replace('"CAP"', text);
    const { usage } = (await (await post('/v1/chat/completions', body)).json()) as ChatAnswer;
    expect(coerceOutputBudget?.(text)).toBe(usage.completion_tokens);
  });

  const refused = ['"8"', '-2', '1e12', '2147483648', '[]', '{}'];
  realTest.for(refused)('%s, which it refuses', async (text) => {
    const body = JSON.stringify({ ...ENDLESS, max_tokens: 'CAP' }).replace('"CAP"', text);
    expect((await post('/v1/chat/completions', body)).status).toBe(400);
    expect(coerceOutputBudget?.(text)).toBeUndefined();
  });

  realTest('max_completion_tokens wins over max_tokens, and max_output_tokens is not read', async () => {
    const asked = { ...ENDLESS, max_tokens: 2, max_completion_tokens: 3, max_output_tokens: 1 };
    const { usage } = (await (await post('/v1/chat/completions', asked)).json()) as ChatAnswer;
    expect(usage.completion_tokens).toBe(3);
    expect(backend().outputBudgetField?.('max_output_tokens', requestOf(asked))).toBe('max_tokens');
  });
});

describe('counts requests of', () => {
  const cases: [string, object][] = [
    ['/v1/responses', { input: 'Say hello.', instructions: 'Be terse.', max_output_tokens: 1 }],
    ['/v1/messages', { system: 'Be terse.', messages: MESSAGES, max_tokens: 1 }],
    ['/v1/completions', { prompt: 'Once upon <|im_end|> a time', max_tokens: 1 }],
    ['/v1/completions', { prompt: [1, 'Once upon', 2], max_tokens: 1 }],
  ];
  realTest.for(cases)('%s', async ([path, body]) => {
    const asked = { model: 'm', ...body };
    const { usage } = (await (await post(path, asked)).json()) as { usage: Record<string, number> };
    const prompt = usage.prompt_tokens ?? (usage.input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0);
    const call = callOf({ path, configured: false, contextLength: undefined });
    expect((await backend().count(requestOf(asked), call)).tokens).toBe(prompt);
  });
});

realTest('an answer streams through, with the usage that was counted', async () => {
  const body = { ...ENDLESS, max_tokens: 8, stream: true, stream_options: { include_usage: true } };
  const response = await postChat(proxy.url, JSON.stringify(body));
  const text = await response.text();
  expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
  expect(text).toContain(`"prompt_tokens":${told(response)['prompt-tokens']}`);
  expect(text.match(/"delta":\{"content":/g)?.length).toBeGreaterThan(3);
});

realTest('a client that goes stops the generation', async () => {
  const gone = new AbortController();
  const response = await postChat(
    proxy.url,
    JSON.stringify({ ...ENDLESS, max_tokens: 1900, stream: true }),
    {},
    { signal: gone.signal },
  );
  await response.body?.getReader().read();
  expect(await busySlots()).toBe(1);
  gone.abort();
  expect(await within(5000, async () => (await busySlots()) === 0)).toBe(true);
});

realTest('a prompt that fills the context comes back refused, recognised as an overflow', async () => {
  const words = 'overflowing words of no meaning at all '.repeat(400);
  const response = await postChat(
    proxy.url,
    JSON.stringify({ messages: [{ role: 'user', content: words }] }),
  );
  expect(response.status).toBe(400);
  expect(told(response)).toMatchObject({ action: 'unchanged', source: 'llamacpp' });
  expect(Number(told(response)['prompt-tokens'])).toBeGreaterThan(SLOT_CONTEXT);
  expect(backend().isOverflow?.(400, await response.text())).toBe(true);
});

realTest('the backend auto recognises the server, and counts as it does', async () => {
  const auto = await startProxy({ upstream: SERVER, backend: 'auto' });
  onTestFinished(() => auto.close());
  const response = await postChat(auto.url, JSON.stringify({ ...ENDLESS, max_tokens: 1 }));
  const { usage } = (await response.json()) as ChatAnswer;
  expect(told(response)).toMatchObject({
    source: 'llamacpp',
    'prompt-tokens': String(usage.prompt_tokens),
    'context-length': String(SLOT_CONTEXT),
  });
});
