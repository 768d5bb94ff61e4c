import { expect, onTestFinished, test } from 'vitest';
import { checkDeep } from '../../src/commands/check-deep.js';
import { DEEP_SHAPES } from '../../src/commands/deep-shapes.js';
import { createLog } from '../../src/observe/log.js';
import { assemble } from '../../src/server/assemble.js';
import { command } from '../support/command.js';
import { settingsOf } from '../support/settings.js';
import { simulator } from '../support/simulator.js';
import { CHAT, json, type StubOptions, type StubRoute, startStub } from '../support/upstream-stub.js';

const SHAPES = DEEP_SHAPES.length;
const USAGE = { prompt_tokens: 30, completion_tokens: 1, total_tokens: 31 };
const answered: StubRoute = (_request, response) => json(response, 200, { usage: USAGE });
const counted: StubRoute = (_request, response) => json(response, 200, { count: 30, max_model_len: 8192 });

/** That route for so many requests, then the other. */
function first(times: number, route: StubRoute, then: StubRoute): StubRoute {
  let seen = 0;
  return (request, response) => (++seen <= times ? route : then)(request, response);
}

const failing =
  (status: number): StubRoute =>
  (_request, response) =>
    json(response, status, { error: { message: 'busy' } });

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1);

async function deep(options: StubOptions, flags: readonly string[] = []) {
  const stub = await startStub({ window: 8192, count: 30, ...options });
  onTestFinished(() => stub.close());
  const started = command(['check', '--deep', '--upstream', stub.url, ...flags], {}, '');
  const code = await started.ended;
  return { code, out: started.stdout(), err: started.stderr(), stub };
}

test('check --deep compares the count of every shape with what the server reports, and shows how far it is', async () => {
  const { code, out, err, stub } = await deep({});
  expect(code).toBe(0);
  expect(out).toMatch(/^chat: plain +30 +30 {2}exact$/m);
  expect(out).toMatch(/^messages: plain +- +- {2}refused \(404\)$/m);
  expect(lastLine(out)).toMatch(/^deep: \d+ exact, \d+ estimated, \d+ refused$/);
  const shapes = err.trim().split('\n');
  expect(shapes.length).toBeGreaterThanOrEqual(30);
  expect(shapes[0]).toBe(`1/${shapes.length} chat: plain`);
  const caps = stub.at('/v1/chat/completions').map(({ body }) => JSON.parse(String(body)).max_tokens);
  expect(new Set(caps)).toEqual(new Set([1]));
});

test('check --deep fails where one count differs, and says by how much', async () => {
  const { code, out } = await deep({ count: (body) => ('documents' in body ? 46 : 30) });
  expect(code).toBe(1);
  expect(out).toMatch(/^chat: documents +30 +46 {2}drift \+16$/m);
  expect(lastLine(out)).toBe('deep: not ok: 1 count differs');
});

test('check --deep --json has the rows, and no progress in them', async () => {
  const { out } = await deep({ count: (body) => ('documents' in body ? 46 : 30) }, ['--json']);
  const { ok, deep: rows } = JSON.parse(out);
  expect(ok).toBe(false);
  expect(rows).toContainEqual({ shape: 'chat: documents', counted: 30, usage: 46, verdict: 'drift' });
  expect(rows).toContainEqual({
    shape: 'messages: plain',
    counted: null,
    usage: null,
    verdict: 'refused',
    status: 404,
  });
});

test('check --deep fails where nothing can be compared', async () => {
  const refuse = {
    'POST /v1/chat/completions': (_: unknown, response: Parameters<typeof json>[0]) =>
      json(response, 401, {}),
  };
  const { code, out } = await deep({ routes: refuse });
  expect(code).toBe(1);
  expect(out).toContain('refused (401)');
  expect(lastLine(out)).toBe('deep: not ok: nothing was compared');
});

test.each([
  ['0.32', 'deep: 30 exact, 1 refused'],
  ['0.16', 'deep: 22 exact, 3 refused, 6 estimated'],
] as const)('check --deep finds no difference on vLLM %s', async (version, sums) => {
  const server = await simulator({ vllm: version });
  onTestFinished(() => server.close());
  const started = command(['check', '--deep', '--upstream', server.url, '--min-output-tokens', '1024']);
  expect(await started.ended).toBe(0);
  expect(lastLine(started.stdout())).toBe(sums);
});

test.each([
  ['429', failing(429), 'failed (429)'],
  ['500', failing(500), 'failed (500)'],
  ['no answer', (_request, response) => response.destroy(), 'failed (no answer)'],
  ['an error as 200', failing(200), 'failed (an error as 200)'],
] as const satisfies [string, StubRoute, string][])(
  'check --deep fails, and stops, at a server that begins to answer with %s',
  async (_what, failure, verdict) => {
    const chat = first(1, answered, failure);
    const { code, out } = await deep({ routes: { [`POST ${CHAT}`]: chat } });
    expect(code).toBe(1);
    expect(out).toContain(verdict);
    expect(out).toMatch(/^deep: 1 exact, 3 failed$/m);
    const stopped = `stopped after 3 failures in a row, ${SHAPES - 4} of ${SHAPES} not tried`;
    expect(lastLine(out)).toBe(`deep: not ok: 3 failed; ${stopped}`);
  },
);

test('check --deep goes on after a single failure, and fails', async () => {
  const chat = first(1, answered, first(1, failing(503), answered));
  const { code, out } = await deep({ routes: { [`POST ${CHAT}`]: chat } }, ['--json']);
  expect(code).toBe(1);
  const report = JSON.parse(out);
  expect(report).toMatchObject({ ok: false, deep_not_tried: 0, deep_problems: ['1 failed'] });
  expect(report.deep).toHaveLength(SHAPES);
  expect(report.deep[1]).toMatchObject({ counted: 30, usage: null, verdict: 'failed', status: 503 });
});

test('check --deep takes a 501 for a request that the server does not know', async () => {
  const { code, out } = await deep({ routes: { 'POST /v1/messages': failing(501) } });
  expect(out).toMatch(/^messages: plain +- +- {2}refused \(501\)$/m);
  expect(code).toBe(0);
});

test('check --deep fails where counts fail, and does not take them for estimates', async () => {
  const { code, out } = await deep({ routes: { 'POST /tokenize': first(2, counted, failing(500)) } });
  expect(code).toBe(1);
  expect(out).toContain('failed (no count: status, HTTP 500)');
  expect(lastLine(out)).toMatch(/^deep: not ok: \d+ failed; stopped after 3 failures in a row/);
});

test('a count that the tokenizer refuses is an estimate, and no failure', async () => {
  const tokenize: StubRoute = (request, response) =>
    (request.body.includes('documents') ? failing(400) : counted)(request, response);
  const { code, out } = await deep({ routes: { 'POST /tokenize': tokenize } });
  expect(out).toMatch(/^chat: documents +- +30 {2}estimated$/m);
  expect(code).toBe(0);
});

test.each([
  ['upstream', { 'GET /v1/models': failing(500) }],
  ['tokenizer', { 'POST /tokenize': failing(500) }],
])('check --deep sends nothing where the %s is dead already', async (_which, routes) => {
  const { code, out, stub } = await deep({ routes });
  expect(code).toBe(1);
  expect(lastLine(out)).toBe('deep: not ok: not run: the upstream or the tokenizer fails, as said above');
  expect(stub.at(CHAT)).toEqual([]);
});

test.each([
  ['answer', CHAT, 'no answer', 30],
  ['count', '/tokenize', 'no count: timeout', null],
])('a server that never gives an %s costs three time limits', async (_what, path, failure, tokens) => {
  const stub = await startStub({ window: 8192, count: 30, routes: { [`POST ${path}`]: () => undefined } });
  const settings = settingsOf({ upstream: stub.url, engine: 'none' });
  const parts = await assemble({ settings, log: createLog('silent') });
  onTestFinished(async () => {
    await parts.close();
    await stub.close();
  });
  const call = { model: 'm', credential: undefined, limitMs: 500, onProgress: () => undefined };
  const { rows, notTried } = await checkDeep(parts, call);
  expect(rows).toHaveLength(3);
  expect(notTried).toBe(SHAPES - 3);
  expect(rows[0]).toEqual({ shape: 'chat: plain', counted: tokens, usage: null, verdict: 'failed', failure });
});

test('a count that is not certain is no drift', async () => {
  const { code, out } = await deep({
    count: (body) => (JSON.stringify(body).includes('image_url') ? 40 : 30),
  });
  expect(out).toMatch(/^chat: image +2088 +40 {2}estimated$/m);
  expect(code).toBe(0);
});
