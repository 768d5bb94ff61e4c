import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { registerBundledBackends } from '../../src/backends/bundled.js';
import { createBackendRegistry } from '../../src/backends/registry.js';
import { createEngineRegistry } from '../../src/engines/registry.js';
import { loadPlugin } from '../../src/plugins/load-plugins.js';
import { pluginHost } from '../../src/server/load-plugins.js';
import {
  callOf,
  contextFor,
  failed,
  failureOf,
  HELLO,
  MODEL_UNKNOWN,
  requestOf,
} from './support/contexts.js';
import { json, listen } from './support/tokenizer-stub.js';

const EXAMPLE = fileURLToPath(new URL('../../examples/backend/', import.meta.url));
const BUNDLED = ['vllm', 'llamacpp', 'estimate', 'auto'];
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'incontext-plugins-'));
  await cp(EXAMPLE, join(folder, 'node_modules', 'acme-backend'), { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

async function file(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

async function loaded(specifiers: readonly string[], base = folder) {
  const registry = createBackendRegistry();
  registerBundledBackends(registry);
  for (const specifier of specifiers) {
    await loadPlugin(specifier, base, pluginHost(specifier, registry, createEngineRegistry()));
  }
  return registry;
}

const SITES = [
  ['by a path from the configuration file', './acme-backend.js', () => EXAMPLE],
  ['by its folder', './node_modules/acme-backend/acme-backend.js', () => folder],
  ['by the name of an installed package', 'acme-backend', () => folder],
  ['by a package name from a folder below', 'acme-backend', () => join(folder, 'conf', 'deep')],
] as const;

for (const [how, specifier, base] of SITES) {
  test(`the example backend is loaded ${how} and counts`, async () => {
    const stub = await listen((response) => json(response, { input_tokens: 42, limit: 8192 }));
    const registry = await loaded([specifier], base());
    expect(registry.names()).toEqual([...BUNDLED, 'acme']);
    const options = { endpoint: `${stub.url}/count` };
    const backend = await registry.create('acme', contextFor(stub.url, {}, { options }));
    expect(await backend.count(requestOf(HELLO), callOf())).toEqual({ tokens: 42, contextLength: 8192 });
    expect(stub.arrived[0]?.path).toBe('/count');
    expect(JSON.parse(stub.arrived[0]?.body ?? '')).toEqual({ messages: HELLO.messages, tools: [] });
    expect(backend.source).toBe('acme-count');
  });
}

test('the example backend refuses an endpoint that is no address, in its own words', async () => {
  const registry = await loaded(['acme-backend']);
  const refused = registry.create('acme', contextFor('http://u', {}, { options: { endpoint: 'nowhere' } }));
  await expect(refused).rejects.toMatchObject({
    name: 'BackendSettingsError',
    problems: [{ setting: 'backends.acme.endpoint', value: 'nowhere' }],
  });
});

test('the example backend tells a refused model from a failed count', async () => {
  const stub = await listen((response) => json(response, {}, 404));
  const registry = await loaded(['acme-backend']);
  const options = { endpoint: stub.url };
  const backend = await registry.create('acme', contextFor(stub.url, {}, { options }));
  expect(await failureOf(backend.count(requestOf(HELLO), callOf()))).toEqual(MODEL_UNKNOWN);
  stub.answer = (response) => json(response, {}, 500);
  expect(await failureOf(backend.count(requestOf(HELLO), callOf()))).toEqual(failed('status'));
  stub.answer = (response) => json(response, { input_tokens: 1.5 });
  expect(await failureOf(backend.count(requestOf(HELLO), callOf()))).toEqual(failed('bad_answer'));
});

test('a package that exports to import only, by subpath and condition, is found like import finds it', async () => {
  const exports = {
    './plugin': { types: './none.d.ts', require: './wrong.cjs', import: { node: './right.js' } },
    './package.json': './package.json',
  };
  await file(
    'node_modules/@acme/only-esm/package.json',
    JSON.stringify({ name: '@acme/only-esm', type: 'module', exports }),
  );
  await file(
    'node_modules/@acme/only-esm/right.js',
    "export const register = (ctx) => ctx.registerBackend('right', () => ({}));",
  );
  expect((await loaded(['@acme/only-esm/plugin'])).names()).toContain('right');
  await expect(loaded(['@acme/only-esm'])).rejects.toThrow('"@acme/only-esm" is not found');
});

test('a package without exports is found by its main file', async () => {
  await file('node_modules/plain/package.json', JSON.stringify({ name: 'plain', main: 'lib/entry.cjs' }));
  await file(
    'node_modules/plain/lib/entry.cjs',
    'exports.register = (ctx) => ctx.registerBackend("plain", () => ({}));',
  );
  expect((await loaded(['plain'])).names()).toContain('plain');
});

test('register may be asynchronous and is waited for', async () => {
  await file(
    'slow.mjs',
    "export async function register(ctx) { await new Promise((r) => setTimeout(r, 20)); ctx.registerBackend('slow', () => ({})); }",
  );
  expect((await loaded(['./slow.mjs'])).names()).toContain('slow');
});

test('plugins are registered in the order of the list', async () => {
  for (const name of ['one', 'two']) {
    await file(`${name}.mjs`, `export const register = (ctx) => ctx.registerBackend('${name}', () => ({}));`);
  }
  expect((await loaded(['./two.mjs', './one.mjs'])).names()).toEqual([...BUNDLED, 'two', 'one']);
});

const BROKEN = [
  ['./missing.mjs', undefined, 'is not found'],
  ['not-installed', undefined, 'is not found'],
  ['node:fs', undefined, 'is not found'],
  ['fs', undefined, 'is not found'],
  ['./syntax.mjs', 'export const = 1;', 'cannot be imported'],
  ['./throws-early.mjs', "throw new Error('no way');", 'cannot be imported: no way'],
  ['./no-register.mjs', 'export const other = 1;', 'does not export register'],
  ['./default-only.mjs', 'export default { register() {} };', 'does not export register'],
  [
    './throws.mjs',
    "export function register() { throw new Error('bad day'); }",
    'failed to register: bad day',
  ],
  [
    './rejects.mjs',
    "export async function register() { throw new Error('later'); }",
    'failed to register: later',
  ],
  [
    './taken.mjs',
    "export const register = (c) => c.registerBackend('vllm', () => ({}));",
    'registered as "vllm"',
  ],
  ['./blank.mjs', "export const register = (c) => c.registerBackend(' ', () => ({}));", 'not blank'],
  ['./no-factory.mjs', "export const register = (c) => c.registerBackend('x');", 'without a factory'],
] as const;

for (const [specifier, text, message] of BROKEN) {
  test(`the start fails and names the plugin: ${specifier}`, async () => {
    if (text !== undefined) await file(specifier, text);
    const start = loaded([specifier]);
    await expect(start).rejects.toThrow(message);
    await expect(start).rejects.toMatchObject({ name: 'PluginError' });
    await expect(start).rejects.toThrow(`"${specifier}"`);
  });
}

test('the host decides what a plugin may register', async () => {
  await file('tool.mjs', "export const register = (ctx) => ctx.registerTool('mine');");
  const tools: string[] = [];
  const context = { registerTool: (name: string) => tools.push(name) };
  await loadPlugin('./tool.mjs', folder, { context });
  expect(tools).toEqual(['mine']);
  await expect(loaded(['./tool.mjs'])).rejects.toThrow('"./tool.mjs" failed to register');
});
