import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPage } from '../docs/support/markdown.js';
import { startStub, type UpstreamStub } from '../support/upstream-stub.js';
import { freshFolder } from './support/fresh-folder.js';
import { Consumers } from './support/installed.js';
import { installEnvironment } from './support/prebuilt.js';
import { run, runOk } from './support/run.js';

// What README says under "Without a clone", with the archive in the place of the registry.
const blocks = readPage('README.md').blocks.filter(({ heading }) => heading === 'Without a clone');
const [npx = '', installed = ''] = blocks.map(({ text }) => text);
const consumers = new Consumers();
const folder = freshFolder();
let stub: UpstreamStub;

beforeAll(async () => {
  stub = await startStub({ window: 32_768, count: 9 });
  await consumers.pack();
});

afterAll(async () => {
  await stub.close();
  consumers.remove();
  await runOk(['rm', '-rf', folder], { cwd: '/' });
});

/** A user's shell, whose global packages and cache of `npx` are in a folder of their own. */
function shell() {
  const { PATH = '', ...rest } = installEnvironment(folder);
  const npm = {
    npm_config_prefix: folder,
    npm_config_prefer_offline: 'true',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_engine_strict: 'false',
  };
  return { cwd: folder, env: { ...rest, ...npm, PATH: `${join(folder, 'bin')}:${PATH}` } };
}

test('npx plays the demo', async () => {
  expect(npx).toMatch(/^npx incontext-proxy demo$/);
  const command = npx.replace(
    'npx incontext-proxy',
    `npx --yes --package ${consumers.archive} incontext-proxy`,
  );
  const { code, stdout } = await run(['bash', '-c', command], shell());
  expect(stdout).toContain('An agent talks to a simulated vLLM');
  expect(code).toBe(0);
}, 120_000);

test('installed globally, the command serves', async () => {
  const [install = '', serve = '', ...rest] = installed.split('\n');
  expect(rest).toEqual([]);
  const options = shell();
  await runOk(['bash', '-c', install.replace(/incontext-proxy$/, consumers.archive)], options);
  const command = `exec ${serve.replace('http://my-vllm:8000', stub.url)} --port 0`;
  const child = spawn('bash', ['-c', command], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((done) => child.once('close', done));
  const url = await new Promise<string>((done, fail) => {
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk;
      const found = /listening on (http:\/\/\S+)/.exec(seen)?.[1];
      if (found !== undefined) done(found);
    });
    child.once('close', (code) => fail(new Error(`ended with ${code}: ${seen}`)));
  });
  const answer = await fetch(`${url}/incontext/live`);
  expect(await answer.json()).toEqual({ status: 'live' });
  child.kill('SIGTERM');
  await ended;
}, 120_000);
