import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { createLogDestination } from '../../src/observe/log-destination.js';
import { command } from '../support/command.js';
import { postChat } from '../support/proxy.js';
import { startStub } from '../support/upstream-stub.js';

const LINE = `{"msg":"${'x'.repeat(1000)}"}\n`;

test('never waits for a sink that takes nothing, and tells how many lines were lost', () => {
  const writes: { text: string; done: () => void }[] = [];
  const destination = createLogDestination(2, (text, done) => writes.push({ text, done }));
  for (let i = 0; i < 3000; i += 1) destination.write(LINE);
  expect(writes).toHaveLength(1);
  writes[0]?.done();
  writes[1]?.done();
  for (let i = 0; i < 10; i += 1) destination.write(LINE);
  const written = writes.map(({ text }) => text).join('');
  const lost = Number(/"lost":(\d+)/.exec(written)?.[1]);
  expect(lost).toBeGreaterThan(1000);
  expect(written.split('\n').filter((line) => line.includes('xxx')).length + lost).toBeGreaterThanOrEqual(
    3000,
  );
});

test.each([
  ['nobody reads its log', ['pipe', 'pipe']],
  ['its log goes nowhere', ['pipe', 'full']],
] as const)('the proxy serves on, and ends, where %s', async (_what, [, log]) => {
  const stub = await startStub({ window: 8192, count: 100 });
  const args = [
    'serve',
    '--port',
    '0',
    '--upstream',
    stub.url,
    '--min-output-tokens',
    '256',
    '--log-level',
    'trace',
  ];
  const shell = `exec "$0" "$@" ${log === 'full' ? '2>/dev/full' : ''}`;
  const child = spawn('/bin/sh', ['-c', shell, process.execPath, 'dist/cli.js', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.pause();
  const url = await new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => resolve(/http:\/\/\S+/.exec(String(chunk))?.[0] ?? ''));
  });
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }], max_tokens: 99_999 });
  for (let i = 0; i < 800; i += 1) {
    const response = await postChat(url, body);
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  }
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  await stub.close();
});

test('a log that is read has every line', async () => {
  const stub = await startStub({ window: 8192, count: 100 });
  const proxy = command(['serve', '--port', '0', '--upstream', stub.url, '--min-output-tokens', '256']);
  const url = await proxy.url();
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }] });
  await Promise.all(Array.from({ length: 200 }, async () => (await postChat(url, body)).arrayBuffer()));
  proxy.child.kill('SIGTERM');
  expect(await proxy.ended).toBe(0);
  expect(
    proxy
      .stderr()
      .split('\n')
      .filter((line) => line.includes('"msg":"exchange"')),
  ).toHaveLength(200);
  await stub.close();
});
