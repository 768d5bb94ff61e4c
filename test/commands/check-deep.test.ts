import { expect, onTestFinished, test } from 'vitest';
import { command } from '../support/command.js';
import { json, type StubOptions, startStub } from '../support/upstream-stub.js';

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
  expect(out).toMatch(/^deep: \d+ exact, \d+ estimated, \d+ refused$/m);
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
});

test('a count that is not certain is no drift', async () => {
  const { code, out } = await deep({
    count: (body) => (JSON.stringify(body).includes('image_url') ? 99 : 30),
  });
  expect(out).toMatch(/^chat: image +2147 +99 {2}estimated$/m);
  expect(code).toBe(0);
});
