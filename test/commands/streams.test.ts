import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { postChat } from '../support/proxy.js';
import { startStub, type UpstreamStub } from '../support/upstream-stub.js';

const CLI = resolve(import.meta.dirname, '../../dist/cli.js');
const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }] });

let stub: UpstreamStub;
let child: ChildProcess | undefined;

beforeAll(async () => {
  stub = await startStub({ window: 8192, count: 3000 });
});
afterEach(() => {
  // The group: a shell's own children would outlive it.
  if (child?.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
});
afterAll(() => stub.close());

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Runs a script of the shell in which `$SERVE` is the command, and gives the proxy's address. */
async function serveIn(script: string): Promise<string> {
  const port = await freePort();
  const SERVE = `${process.execPath} ${CLI} serve --upstream ${stub.url} --port ${port}`;
  child = spawn('sh', ['-c', script], {
    detached: true,
    env: { SERVE, PATH: process.env.PATH, INCONTEXT_UNKNOWN: 'warns' },
  });
  return `http://127.0.0.1:${port}`;
}

async function expectServing(url: string): Promise<void> {
  const live = () => fetch(`${url}/incontext/live`).then((answer) => answer.status);
  await expect.poll(() => live().catch(() => 0), { timeout: 10_000 }).toBe(200);
  for (let i = 0; i < 5; i += 1) expect((await postChat(url, BODY)).status).toBe(200);
  // Log lines are written up to 50 ms later.
  await new Promise((done) => setTimeout(done, 200));
  expect(await live()).toBe(200);
  expect(child?.exitCode).toBeNull();
}

test.each([
  ['on a full disk', 'exec $SERVE 2>/dev/full'],
  ['closed', 'exec $SERVE 2>&-'],
  ['read by a program that has ended', 'exec $SERVE 2>&1 >/dev/null | true'],
])('the proxy goes on serving with its standard error %s', async (_what, script) => {
  await expectServing(await serveIn(script));
});

test('the proxy goes on serving when the reader of its standard error ends later', async () => {
  const url = await serveIn('exec $SERVE');
  await expectServing(url);
  child?.stderr?.destroy();
  await expectServing(url);
});

test('the proxy goes on serving with its standard output on a full disk', async () => {
  await expectServing(await serveIn('exec $SERVE >/dev/full'));
});

test('a command ends quietly when nobody reads its standard output', async () => {
  const started = spawn(process.execPath, [CLI, 'serve', '--help'], { detached: true });
  child = started;
  started.stdout.destroy();
  let stderr = '';
  started.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  expect(await new Promise((done) => started.once('close', done))).toBe(0);
  expect(stderr).toBe('');
});

test('a refusal is told by the exit code where it cannot be written', async () => {
  const full = openSync('/dev/full', 'w');
  child = spawn(process.execPath, [CLI, 'check', '--port', '-1'], {
    detached: true,
    stdio: ['ignore', 'ignore', full],
  });
  expect(await new Promise((done) => child?.once('close', done))).toBe(1);
  closeSync(full);
});
