import { afterEach, expect, test } from 'vitest';
import { postChat, startProxy, type TestProxy, told } from '../support/proxy.js';
import { CHAT, type StubOptions, startStub, type UpstreamStub } from '../support/upstream-stub.js';

let stub: UpstreamStub;
let proxy: TestProxy;

afterEach(async () => {
  await proxy.close();
  await stub.close();
});

async function start(options: StubOptions, flags: Record<string, string> = {}): Promise<void> {
  stub = await startStub(options);
  proxy = await startProxy({ upstream: stub.url, ...flags });
}

function chat(more: Record<string, unknown>): string {
  return JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }], ...more });
}

test('lowers a cap that does not fit to what is left, so that the upstream answers (vllm-project/vllm#42474)', async () => {
  await start({ window: 4096, count: 3000 });
  const response = await postChat(proxy.url, chat({ max_tokens: 2048 }));
  expect(response.status).toBe(200);
  expect(stub.only(CHAT).body.toString()).toBe(chat({ max_tokens: 1096 }));
  expect(told(response)).toEqual({
    action: 'clamped',
    source: 'vllm-tokenize',
    reason: 'cap_lowered',
    'prompt-tokens': '3000',
    'original-prompt-tokens': '3000',
    window: '4096',
    'context-length': '4096',
    'max-tokens': '1096',
  });
});

test.each([1095, 1096])(
  'forwards the body byte for byte when its cap of %i already fits (0xku/kon#91)',
  async (cap) => {
    await start({ window: 4096, count: 3000 });
    const response = await postChat(proxy.url, chat({ max_tokens: cap }));
    expect(response.status).toBe(200);
    expect(stub.only(CHAT).body.toString()).toBe(chat({ max_tokens: cap }));
    expect(told(response)).toMatchObject({ action: 'unchanged', reason: 'fits', 'max-tokens': String(cap) });
  },
);

test('changes a cap that is one too large by exactly one (Kilo-Org/kilocode#9404)', async () => {
  await start({ window: 4096, count: 3000 });
  expect((await postChat(proxy.url, chat({ max_tokens: 1097 }))).status).toBe(200);
  expect(stub.only(CHAT).body.toString()).toBe(chat({ max_tokens: 1096 }));
});

test('answers a greeting whose cap is the whole window (docker/docker-agent#3387)', async () => {
  await start({ window: 4096, count: 12 });
  expect((await postChat(proxy.url, chat({ max_tokens: 4096 }))).status).toBe(200);
  expect(stub.only(CHAT).body.toString()).toBe(chat({ max_tokens: 4084 }));
});

test('lowers a cap above the window without a first failing try (NousResearch/hermes-agent#102494)', async () => {
  await start({ window: 4096, count: 50 });
  expect((await postChat(proxy.url, chat({ max_completion_tokens: 131_072 }))).status).toBe(200);
  expect(stub.only(CHAT).body.toString()).toBe(chat({ max_completion_tokens: 4046 }));
});

test('gives all that is left rather than a share of the window (docker/docker-agent#3393)', async () => {
  await start({ window: 4096, count: 3500 });
  expect((await postChat(proxy.url, chat({ max_tokens: 4000 }))).status).toBe(200);
  expect(stub.only(CHAT).body.toString()).toBe(chat({ max_tokens: 596 }));
});

test('sends one cap where the client sent several: the smallest, under its own name', async () => {
  await start({ window: 4096, count: 3000 });
  const response = await postChat(proxy.url, chat({ max_tokens: 3000, max_completion_tokens: 100 }));
  expect(response.status).toBe(200);
  expect(stub.only(CHAT).body.toString()).toBe(chat({ max_completion_tokens: 100 }));
  expect(told(response)).toMatchObject({ action: 'clamped', reason: 'cap_merged', 'max-tokens': '100' });
});

test('appends max_tokens as the last member where the client sent no cap (anomalyco/opencode#42448)', async () => {
  await start({ window: 4096, count: 3000 });
  const response = await postChat(proxy.url, chat({}));
  expect(response.status).toBe(200);
  expect(stub.only(CHAT).body.toString()).toBe(chat({ max_tokens: 1096 }));
  expect(told(response)).toMatchObject({ action: 'clamped', reason: 'cap_inserted' });
});

test.each(['-1', '0', '1.5', '"many"', '{}'])(
  'reads a cap of %s as absent and never emits less than the reserve',
  async (cap) => {
    await start({ window: 4096, count: 3000 });
    const body = chat({ max_tokens: 7 }).replace('7', cap);
    expect((await postChat(proxy.url, body)).status).toBe(200);
    expect(stub.only(CHAT).body.toString()).toBe(chat({ max_tokens: 1096 }));
  },
);

test.each([4096, 5000, 3841])(
  "sends the client's own bytes, never a stub, when a prompt of %i leaves less than the reserve (NVIDIA-NeMo/RL#2514)",
  async (count) => {
    await start({ window: 4096, count });
    const body = chat({ max_tokens: 500 });
    const response = await postChat(proxy.url, body);
    expect(stub.only(CHAT).body.toString()).toBe(body);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: { message: string } }).error.message).toContain(
      'maximum context length',
    );
    expect(told(response)).toMatchObject({ action: 'unchanged', reason: 'requires_compression' });
  },
);

test('keeps a small cap that the caller chose on purpose, also where less than the reserve is left (decocms/studio#5397)', async () => {
  await start({ window: 4096, count: 4090 });
  const body = chat({ max_tokens: 5 });
  const response = await postChat(proxy.url, body);
  expect(response.status).toBe(200);
  expect(stub.only(CHAT).body.toString()).toBe(body);
  expect(told(response)).toMatchObject({ action: 'unchanged', reason: 'fits' });
});

test('asks for at least min_tokens of room', async () => {
  await start({ window: 4096, count: 3900 });
  const response = await postChat(proxy.url, chat({ max_tokens: 300, min_tokens: 299 }));
  expect(told(response)).toMatchObject({ action: 'unchanged', reason: 'requires_compression' });
});

test('applies the operator-wide cap, which lowers the reserve too', async () => {
  await start({ window: 4096, count: 3900 }, { 'max-output-tokens': '128' });
  expect((await postChat(proxy.url, chat({ max_tokens: 2000 }))).status).toBe(200);
  expect(stub.only(CHAT).body.toString()).toBe(chat({ max_tokens: 128 }));
});

test('reserves more for one model where the operator says so (vllm-project/vllm#28266)', async () => {
  stub = await startStub({ window: 4096, count: 3796 });
  const file = 'models:\n  m:\n    min_output_tokens: 1024\n';
  proxy = await startProxy({ upstream: stub.url, config: 'incontext.yaml' }, { file });
  const response = await postChat(proxy.url, chat({ max_tokens: 2000 }));
  expect(told(response)).toMatchObject({ action: 'unchanged', reason: 'requires_compression' });
});

test('streams a clamped answer', async () => {
  await start({ window: 4096, count: 3000 });
  const response = await postChat(proxy.url, chat({ max_tokens: 4096, stream: true }));
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(told(response)).toMatchObject({ action: 'clamped' });
  expect(await response.text()).toMatch(
    /^data: .*"an".*\n\ndata: .*"swer".*\n\ndata: .*\n\ndata: \[DONE\]\n\n$/,
  );
});
