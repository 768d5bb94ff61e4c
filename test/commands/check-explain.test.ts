import { afterAll, beforeAll, expect, test } from 'vitest';
import { command } from '../support/command.js';
import { json, startStub, type UpstreamStub } from '../support/upstream-stub.js';

let stub: UpstreamStub;

beforeAll(async () => {
  stub = await startStub({
    window: 8192,
    count: 3000,
    routes: { 'GET /version': (_request, response) => json(response, 200, { version: '0.32.0' }) },
  });
});

afterAll(() => stub.close());

async function run(
  args: readonly string[],
  input = '',
): Promise<{ code: number | null; out: string; err: string }> {
  const started = command(args, {}, input);
  const code = await started.ended;
  return { code, out: started.stdout(), err: started.stderr() };
}

test('check prints what is in force as "key: value" lines with plain digits', async () => {
  const { code, out } = await run(['check', '--upstream', `${stub.url}/v1/`]);
  expect(code).toBe(0);
  const values = Object.fromEntries(
    out
      .trim()
      .split('\n')
      .map((line) => line.split(': ', 2)),
  );
  expect(values).toMatchObject({
    upstream: stub.url,
    backend: 'vllm',
    engine: 'compressor',
    context_length: '8192',
    window: '6144',
    reserve: '4096',
    fallback_margin: '1024',
  });
});

test('check lets no name of the server move the cursor or begin a line', async () => {
  const models = { data: [{ id: 'm\u001b[31m\nEVIL: yes', max_model_len: 8192 }] };
  const odd = await startStub({
    routes: { 'GET /v1/models': (_request, response) => json(response, 200, models) },
  });
  const { out } = await run(['check', '--upstream', odd.url]);
  await odd.close();
  expect(out).toContain('model: m\\u{1b}[31m\\u{a}EVIL: yes');
  expect(out).not.toContain('\u001b');
  expect(out).not.toMatch(/^EVIL/m);
});

test('check --json prints the same as one JSON document', async () => {
  const { code, out } = await run(['check', '--json', '--upstream', stub.url]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    upstream: stub.url,
    context_length: 8192,
    reserve: 4096,
  });
});

test('check exits with 1 where the upstream does not answer, and says so', async () => {
  const { code, out } = await run(['check', '--upstream', 'http://127.0.0.1:9']);
  expect(code).toBe(1);
  expect(out).toContain('upstream_state: unreachable (ECONNREFUSED)');
  expect(out).toContain('context_length: unknown');
});

test('check exits with 1 where the tokenizer does not count', async () => {
  const broken = await startStub({
    routes: { 'POST /tokenize': (_request, response) => json(response, 500, {}) },
  });
  const { code, out } = await run(['check', '--upstream', broken.url]);
  await broken.close();
  expect(code).toBe(1);
  expect(out).toContain('tokenizer: no exact count: status (HTTP 500)');
});

test('check exits with 1 where the reserve leaves the discovered window no room, and names values that would fit', async () => {
  const { code, out } = await run(['check', '--upstream', stub.url, '--min-output-tokens', '8000']);
  expect(code).toBe(1);
  expect(out).toContain('a reserve of at most 5119');
});

test('explain says what would be done with a body on standard input', async () => {
  const body = JSON.stringify({
    model: 'm',
    messages: [{ role: 'user', content: 'q' }],
    max_tokens: 100_000,
  });
  const { code, out } = await run(
    ['explain', '--json', '--engine', 'none', '--upstream', stub.url, '-'],
    body,
  );
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    action: 'clamped',
    reason: 'cap_lowered',
    model: 'm',
    prompt_tokens: 3000,
    original_prompt_tokens: 3000,
    source: 'vllm-tokenize',
    context_length: 8192,
    window: 8192,
    reserve: 4096,
    required: 4096,
    remaining: 5192,
    pressure: 7095,
    compress_due: false,
    cap: { field: 'max_tokens', before: 100_000, after: 5192 },
  });
});

test('explain says it of every endpoint that is named, and that others pass', async () => {
  const body = JSON.stringify({ model: 'm', input: 'q', max_output_tokens: 100_000 });
  const args = ['explain', '--json', '--upstream', stub.url, '-'];
  const { code, out } = await run([...args, '--endpoint', '/v1/responses'], body);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    reason: 'cap_lowered',
    window: 8192,
    cap: { field: 'max_output_tokens', before: 100_000, after: 5192 },
  });
  const other = await run([...args, '--endpoint', '/v1/embeddings'], body);
  expect(other.code).toBe(0);
  expect(JSON.parse(other.out)).toMatchObject({ action: 'unchanged', reason: 'ignored', cap: null });
});

test.each(['/v1/responses?x=1', '/llm/v1/responses', 'http://proxy/llm/v1/responses?x=1'])(
  'explain reads --endpoint %s as serve reads the path of a request',
  async (path) => {
    const body = JSON.stringify({ model: 'm', input: 'q', max_output_tokens: 100_000 });
    const args = ['explain', '--json', '--upstream', stub.url, '--path-prefix', '/llm', '-'];
    const { code, out } = await run([...args, '--endpoint', path], body);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ reason: 'cap_lowered', cap: { after: 5192 } });
  },
);

test.each(['v1/responses', ''])('explain refuses --endpoint "%s": it is no path', async (path) => {
  const { code, out, err } = await run(['explain', '--upstream', stub.url, `--endpoint=${path}`, '-'], '{}');
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(err).toContain('--endpoint');
});

test('explain answers for bad JSON too', async () => {
  const { code, out } = await run(['explain', '--json', '--upstream', stub.url, '-'], '{');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    action: 'unchanged',
    reason: 'not_json',
    prompt_tokens: null,
    cap: null,
  });
});

test('explain goes by the body limit, as serve does', async () => {
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q'.repeat(2000) }] });
  const { code, out } = await run(
    ['explain', '--json', '--body-limit', '1KiB', '--upstream', stub.url, '-'],
    body,
  );
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ action: 'unchanged', reason: 'body_too_large' });
});

test('explain exits with 1 where the upstream does not answer', async () => {
  const { code, out, err } = await run(
    ['explain', '--upstream', 'http://127.0.0.1:9', '-'],
    '{"messages":[]}',
  );
  expect(code).toBe(1);
  expect(out).toContain('reason: window_unknown');
  expect(err).toContain('the upstream does not answer');
});

test.each([
  [
    'the configured key is refused',
    ['--upstream-api-key', 'wrong'],
    1,
    'refuses the configured key: status (HTTP 401)',
  ],
  ['clients bring their own key', [], 0, 'answers, but asks for a key: status (HTTP 401)'],
])('check tells when %s', async (_what, flags, exit, state) => {
  const keyed = await startStub({
    window: 8192,
    routes: { 'GET /v1/models': (_request, response) => json(response, 401, { error: 'Unauthorized' }) },
  });
  const { code, out } = await run(['check', '--upstream', keyed.url, ...flags]);
  await keyed.close();
  expect(out).toContain(`upstream_state: ${state}`);
  expect(code).toBe(exit);
});
