import { expect, onTestFinished, test } from 'vitest';
import { command } from '../support/command.js';
import { json, startStub } from '../support/upstream-stub.js';

async function checked(owner: string, backend: string): Promise<{ code: number | null; out: string }> {
  const data = [{ id: 'm', owned_by: owner, max_model_len: 32_768 }];
  const stub = await startStub({
    window: 32_768,
    routes: {
      'GET /v1/models': (_request, response) => json(response, 200, { data }),
      'GET /version': (_request, response) => json(response, 404, {}),
    },
  });
  onTestFinished(() => stub.close());
  const started = command(['check', '--engine', 'none', '--upstream', stub.url, '--backend', backend]);
  return { code: await started.ended, out: started.stdout() };
}

test.each([
  ['vllm', 'vllm', 'vllm'],
  ['vllm', 'auto', 'vllm'],
  ['someone', 'estimate', 'none'],
])(
  'check names the server of %s, for the backend %s without a warning',
  async (owner, backend, recognised) => {
    const { code, out } = await checked(owner, backend);
    expect(out).toMatch(new RegExp(`^backend: ${backend}\nrecognised: ${recognised}\nengine`, 'm'));
    expect(code).toBe(0);
  },
);

test('check warns where another backend would count exactly, and takes a chosen estimate for no fault', async () => {
  const { code, out } = await checked('vllm', 'estimate');
  expect(out).toContain(
    'recognised: vllm\nbackend_warning: the upstream tells that it is vllm: backend vllm would',
  );
  expect(out).toContain('tokenizer: none: prompts are estimated');
  expect(code).toBe(0);
});

test('check warns of a backend that the server does not look like', async () => {
  const { out } = await checked('someone', 'vllm');
  expect(out).toContain('backend_warning: the upstream is neither vLLM nor llama.cpp as far as it tells');
});

test('check does not guess where the server does not answer', async () => {
  const started = command(['check', '--upstream', 'http://127.0.0.1:9']);
  await started.ended;
  expect(started.stdout()).toContain('recognised: unknown\n');
});
