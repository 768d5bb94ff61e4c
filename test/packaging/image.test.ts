import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { postChat, told } from '../support/proxy.js';
import { CHAT, startStub, type UpstreamStub } from '../support/upstream-stub.js';
import { composeFile } from './support/compose.js';
import { execForm, last, lineage } from './support/dockerfile.js';
import { Builder, type Image } from './support/image.js';
import { PACKAGE } from './support/paths.js';

const builder = new Builder();
let proxy: Image;
let demo: Image;
let stub: UpstreamStub;
const running: ChildProcess[] = [];

beforeAll(async () => {
  stub = await startStub({ window: 8192, count: 3000 });
  [proxy, demo] = await Promise.all([builder.image('proxy'), builder.image('demo')]);
}, 240_000);

afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

afterAll(async () => {
  await stub.close();
  await builder.remove();
}, 60_000);

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** Starts a container and waits until it listens. */
async function start(
  image: Image,
  env: Record<string, string>,
  cmd?: readonly string[],
): Promise<ChildProcess> {
  const child = image.start(cmd, env);
  running.push(child);
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk;
      if (/listening on http:\/\/0\.0\.0\.0:\d+\n/.test(output)) resolve();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk;
    });
    child.once('close', () => reject(new Error(`ended: ${output}`)));
  });
  return child;
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve));
}

const HEALTH = execForm(last('HEALTHCHECK', lineage('proxy'))) ?? [];
const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'q' }], max_tokens: 99_999 });

test('the proxy consists of the program and its production dependencies', () => {
  expect(readdirSync(`${proxy.root}/app`).toSorted()).toEqual([
    'LICENSE',
    'dist',
    'node_modules',
    'package.json',
  ]);
  const missing = (names: readonly string[]) =>
    names.filter((name) => !existsSync(`${proxy.root}/app/node_modules/${name}`));
  const { dependencies, devDependencies, optionalDependencies } = PACKAGE;
  expect(missing(Object.keys(dependencies))).toEqual([]);
  // `ajv` is what fastify itself works with.
  const others = Object.keys({ ...devDependencies, ...optionalDependencies }).filter(
    (name) => name !== 'ajv',
  );
  expect(others.length).toBeGreaterThan(5);
  expect(missing(others)).toEqual(others);
});

test('its user can write to /data and nowhere else', async () => {
  const write = (path: string) =>
    proxy.run(['node', '-e', 'fs.writeFileSync(process.argv[1], "")', path]).then(({ code }) => code);
  expect(await write('/data/probe')).toBe(0);
  expect(await write('/app/probe')).not.toBe(0);
  expect(await write('/app/dist/cli.js')).not.toBe(0);
  expect(await write('/probe')).not.toBe(0);
});

test('its user can open a store of conversations in /data', async () => {
  const program = `import(process.argv[1]).then(async ({ openConversationStore }) => {
    const store = await openConversationStore({ folder: process.argv[2] });
    console.log((await store.secret('probe')).length);
    await store.close();
  })`;
  const open = ['node', '-e', program, '/app/dist/store/open-conversation-store.js', '/data'];
  expect(await proxy.run(open)).toEqual({ code: 0, stdout: '32\n', stderr: '' });
});

test('is healthy while it listens, and only then', async () => {
  const env = { INCONTEXT_PORT: await freePort(), INCONTEXT_UPSTREAM_URL: stub.url };
  expect((await proxy.run(HEALTH, env)).code).toBe(1);
  const child = await start(proxy, env);
  expect((await proxy.run(HEALTH, env)).code).toBe(0);
  const ended = exitOf(child);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect((await proxy.run(HEALTH, env)).code).toBe(1);
});

test('SIGTERM ends it at the drain deadline, though an answer hangs', async () => {
  const env = {
    INCONTEXT_PORT: await freePort(),
    INCONTEXT_UPSTREAM_URL: stub.url,
    INCONTEXT_DRAIN_SECONDS: '1',
  };
  stub.set({
    routes: { [`POST ${CHAT}`]: (_request, response) => void response.writeHead(200).write('data: {}\n\n') },
  });
  const child = await start(proxy, env);
  const hanging = await postChat(`http://127.0.0.1:${env.INCONTEXT_PORT}`, BODY);
  const ended = exitOf(child);
  const asked = performance.now();
  child.kill('SIGTERM');
  await expect(hanging.text()).rejects.toThrow();
  expect(await ended).toBe(0);
  expect(performance.now() - asked).toBeGreaterThan(900);
  expect(performance.now() - asked).toBeLessThan(5000);
  stub.set({ routes: {} });
});

test('in the profile demo of compose the simulator answers through the proxy', async () => {
  const { simulator, proxy: service } = composeFile().services;
  const [simulated, port] = [await freePort(), await freePort()];
  const command = (simulator.command ?? []).map((word) => word.replace(/^8000$/, simulated));
  expect(command).toContain(simulated);
  await start(
    demo,
    {},
    command.map((word) => word.replace(/\$\{\w+:-(.*)\}/, '$1')),
  );
  const upstream = service.environment?.INCONTEXT_UPSTREAM_URL;
  expect(upstream).toBe('http://upstream:8000');
  await start(proxy, {
    INCONTEXT_PORT: port,
    INCONTEXT_UPSTREAM_URL: `http://127.0.0.1:${simulated}`,
  });
  const ready = service.healthcheck.test.slice(1).map((word) => word.replace('8787', port));
  await expect.poll(async () => (await proxy.run(ready)).code, { timeout: 20_000 }).toBe(0);
  const health = simulator.healthcheck.test.slice(1).map((word) => word.replace('8000', simulated));
  expect((await demo.run(health)).code).toBe(0);
  const answer = await postChat(
    `http://127.0.0.1:${port}`,
    '{"messages":[{"role":"user","content":"hi"}],"max_tokens":1000000,"stream":true}',
  );
  expect(told(answer)).toMatchObject({
    action: 'clamped',
    source: 'vllm-tokenize',
    'context-length': '32768',
  });
  await answer.body?.cancel();
});

test('without the target demo it says what the demo lacks', async () => {
  const { code, stderr } = await proxy.run(['node', '/app/dist/cli.js', 'demo']);
  expect(code).toBe(1);
  expect(stderr).toContain('needs the optional package');
});
