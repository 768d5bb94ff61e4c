import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { command, type RunningCommand } from '../support/command.js';
import { postChat, told } from '../support/proxy.js';
import { CHAT, startStub, type UpstreamStub } from '../support/upstream-stub.js';

let stub: UpstreamStub;
const running: RunningCommand[] = [];

beforeEach(async () => {
  stub = await startStub({ window: 8192, count: 3000 });
});

afterEach(async () => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
  await stub.close();
});

function serve(args: readonly string[], env: Record<string, string> = {}): RunningCommand {
  const started = command(['serve', '--port', '0', '--upstream', stub.url, ...args], env);
  running.push(started);
  return started;
}

const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }], max_tokens: 99_999 });

test('prints where it listens as the first line of standard output, and the summary on standard error', async () => {
  const proxy = serve(['--min-output-tokens', '1024'], { INCONTEXT_UPSTREAM_API_KEY: 'marked-secret' });
  const url = await proxy.url();
  expect(proxy.stdout()).toBe(`incontext-proxy listening on ${url}\n`);
  expect(told(await postChat(url, BODY))).toMatchObject({ action: 'clamped', 'max-tokens': '3144' });
  expect(proxy.stderr()).toMatch(/min_output_tokens +1024 +from --min-output-tokens/);
  expect(proxy.stderr()).toMatch(/upstream_api_key +\*\*\* +from INCONTEXT_UPSTREAM_API_KEY/);
  expect(proxy.stderr() + proxy.stdout()).not.toContain('marked-secret');
});

test('a flag wins over the environment, the environment over the file', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'incontext-')), 'incontext.yaml');
  writeFileSync(
    file,
    'budget:\n  min_output_tokens: 111\n  fallback_margin_tokens: 112\n  max_output_tokens: 113\n',
  );
  const proxy = serve(['--config', file, '--min-output-tokens', '331'], {
    INCONTEXT_MIN_OUTPUT_TOKENS: '221',
    INCONTEXT_FALLBACK_MARGIN_TOKENS: '222',
  });
  await proxy.url();
  await expect.poll(() => proxy.stderr()).toMatch(/min_output_tokens +331/);
  expect(proxy.stderr()).toMatch(/fallback_margin_tokens +222/);
  expect(proxy.stderr()).toMatch(/max_output_tokens +113/);
});

test('goes on where a plugin forgets a promise that is rejected, and says so without its words', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'incontext-'));
  writeFileSync(join(folder, 'incontext.yaml'), 'plugins: [./forgetful.mjs]\n');
  writeFileSync(
    join(folder, 'forgetful.mjs'),
    `export function register() { setTimeout(() => Promise.reject(new RangeError('marked-secret')), 300); }`,
  );
  const proxy = serve(['--config', join(folder, 'incontext.yaml'), '--engine', 'none']);
  const url = await proxy.url();
  await expect.poll(() => proxy.stderr()).toContain('"code":"unhandled_rejection","type":"RangeError"');
  expect((await postChat(url, BODY)).status).toBe(200);
  expect(proxy.stderr()).not.toContain('marked-secret');
});

describe('refuses to start, with exit code 1 and every mistake at once,', () => {
  test('for settings that break their rules', async () => {
    const proxy = command(['serve', '--upstream', 'ftp://h', '--port', '70000'], {
      INCONTEXT_MIN_OUTPUT_TOKENS: '-1',
      INCONTEXT_API_KEYS: ' , ,',
    });
    expect(await proxy.ended).toBe(1);
    for (const part of [
      '--upstream',
      'ftp://h',
      '--port',
      '70000',
      'INCONTEXT_MIN_OUTPUT_TOKENS',
      'INCONTEXT_API_KEYS',
    ]) {
      expect(proxy.stderr()).toContain(part);
    }
    expect(proxy.stdout()).toBe('');
  });

  test('for a reserve that leaves the configured window no room', async () => {
    const proxy = serve(['--context-length', '4096']);
    expect(await proxy.ended).toBe(1);
    expect(proxy.stderr()).toContain('INCONTEXT_FALLBACK_MARGIN_TOKENS');
    expect(proxy.stderr()).toContain('INCONTEXT_MIN_OUTPUT_TOKENS=2047');
  });

  test('for an unknown backend, naming the known ones', async () => {
    const proxy = serve(['--backend', 'acme']);
    expect(await proxy.ended).toBe(1);
    expect(proxy.stderr()).toMatch(/--backend = "acme"\n.*known are vllm/);
  });

  test('for an unknown engine, rather than taking another', async () => {
    const proxy = serve(['--engine', 'acme']);
    expect(await proxy.ended).toBe(1);
    expect(proxy.stderr()).toMatch(/--engine = "acme"\n.*looked among the bundled \(none, compressor\)/);
  });

  test('for a port that is taken', async () => {
    const proxy = command(['serve', '--upstream', stub.url, '--port', String(stub.port)]);
    expect(await proxy.ended).toBe(1);
    expect(proxy.stderr()).toContain('EADDRINUSE');
  });
});

test('a usage mistake exits with 2 and says where help is', async () => {
  const proxy = command(['serve', '--upstreem', 'http://h']);
  expect(await proxy.ended).toBe(2);
  expect(proxy.stderr()).toContain('--upstream');
});

describe('at SIGTERM', () => {
  /** A stream that ends when told. */
  function openStream(): { release: () => void } {
    let release = () => {};
    const released = new Promise<void>((done) => {
      release = done;
    });
    stub.set({
      routes: {
        [`POST ${CHAT}`]: async (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.write('data: {"n":1}\n\n');
          await released;
          response.end('data: [DONE]\n\n');
        },
      },
    });
    return { release };
  }

  test('exits with 0 also when the signal comes as soon as it says that it listens', async () => {
    for (let round = 0; round < 8; round += 1) {
      const proxy = serve([]);
      proxy.child.stdout.once('data', () => proxy.child.kill(round % 2 === 0 ? 'SIGTERM' : 'SIGINT'));
      expect(await proxy.ended).toBe(0);
      expect(proxy.stdout()).toMatch(/ listening on /);
    }
  }, 120_000);

  test('exits with 0 also while it starts, for example while a plugin never ends loading', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'incontext-'));
    const file = join(folder, 'incontext.yaml');
    writeFileSync(file, 'plugins: [ ./endless.mjs ]');
    const endless =
      'export const register = () => { console.log("loading"); return new Promise((done) => setTimeout(done, 60_000)); };';
    writeFileSync(join(folder, 'endless.mjs'), endless);
    const proxy = serve(['--config', file]);
    proxy.child.stdout.once('data', () => proxy.child.kill('SIGTERM'));
    expect(await proxy.ended).toBe(0);
    expect(proxy.stdout()).toBe('loading\n');
  });

  test('is not ready at once, finishes the stream in flight, then exits with 0 (fastify/fastify#3617)', async () => {
    const { release } = openStream();
    const proxy = serve(['--min-output-tokens', '256']);
    const url = await proxy.url();
    const response = await postChat(url, BODY);
    proxy.child.kill('SIGTERM');
    await expect.poll(async () => (await fetch(`${url}/incontext/ready`)).status).toBe(503);
    expect(await (await fetch(`${url}/incontext/ready`)).json()).toEqual({
      status: 'not_ready',
      reason: 'draining',
    });
    release();
    expect(await response.text()).toBe('data: {"n":1}\n\ndata: [DONE]\n\n');
    expect(await proxy.ended).toBe(0);
  });

  test('cuts what is still in flight at the drain deadline', async () => {
    openStream();
    const proxy = serve(['--min-output-tokens', '256', '--drain-seconds', '0.2']);
    const response = await postChat(await proxy.url(), BODY);
    proxy.child.kill('SIGTERM');
    await expect(response.text()).rejects.toThrow();
    expect(await proxy.ended).toBe(0);
  });

  test('a second signal exits now', async () => {
    openStream();
    const proxy = serve(['--min-output-tokens', '256', '--drain-seconds', '600']);
    const url = await proxy.url();
    const response = await postChat(url, BODY);
    proxy.child.kill('SIGTERM');
    await expect.poll(async () => (await fetch(`${url}/incontext/ready`)).status).toBe(503);
    proxy.child.kill('SIGTERM');
    await expect(response.text()).rejects.toThrow();
    expect(await proxy.ended).toBe(0);
  });

  test('idle connections of clients do not hold it', async () => {
    const proxy = serve(['--min-output-tokens', '256']);
    const url = await proxy.url();
    await (await postChat(url, BODY)).text();
    proxy.child.kill('SIGTERM');
    expect(await proxy.ended).toBe(0);
  });
});
