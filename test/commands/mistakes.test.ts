import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command } from '../support/command.js';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'incontext-mistakes-'));
  await writeFile(join(folder, 'bad.mjs'), 'export const = 1;');
  await writeFile(join(folder, 'good.mjs'), GOOD);
  await writeFile(join(folder, 'engine.mjs'), ENGINE);
});
afterAll(() => rm(folder, { recursive: true }));

/** Says how often it is loaded; its backend wants an endpoint, and an upstream as promised. */
const GOOD = `
console.error('LOADED');
export function register({ registerBackend, errors }) {
  registerBackend('good', ({ options, upstream }) => {
    new URL(upstream);
    if (options?.endpoint !== undefined) throw new TypeError('bad day');
    const problem = { setting: 'backends.good.endpoint', value: '', rule: 'must be given', example: 'http://e' };
    throw new errors.BackendSettingsError([problem]);
  });
}
`;

const ENGINE = `
export function register({ registerContextEngine, errors }) {
  registerContextEngine(({ options }) => {
    const problem = { setting: 'engines.mine.keep', value: String(options?.keep), rule: 'must be 1 or more', example: '4' };
    throw new errors.EngineSettingsError([problem]);
  }, 'mine');
}
`;

/** The report of a command that must refuse: by setting, in the order of the report. */
async function refusals(args: readonly string[], yaml?: string, env: Record<string, string> = {}) {
  const config = join(folder, 'incontext.yaml');
  if (yaml !== undefined) await writeFile(config, yaml);
  const [name = '', ...flags] = args;
  const started = command([name, ...(yaml === undefined ? [] : ['--config', config]), ...flags], env, '{}');
  expect(await started.ended).toBe(1);
  const report = started.stderr().replaceAll(config, 'FILE');
  const settings = [...report.matchAll(/^ {2}(\S.*?)(?: = .*)?$/gm)].map(([, setting]) => setting);
  expect(report).toMatch(settings.length === 1 ? /1 setting is/ : `${settings.length} settings are refused`);
  return { report, settings };
}

const MANY = ['--upstream', 'http://127.0.0.1:1', '--port', '99999', '--engine', 'foo', '--backend', 'bar'];

test.each(['check', 'serve', 'explain'])('%s refuses port, engine and backend at once', async (name) => {
  const { report, settings } = await refusals([name, ...MANY, ...(name === 'explain' ? ['-'] : [])]);
  expect(settings).toEqual(['--port', '--engine', '--backend']);
  expect(report).toContain(`  --engine = "foo"
    must name a context engine that can be loaded: there is no context engine "foo": looked among the bundled (none, compressor)
    for example: compressor

  --backend = "bar"
    must name a backend that is bundled or of a plugin: known are vllm, llamacpp, estimate, auto
    for example: vllm`);
});

test('every plugin that cannot be loaded is refused beside a backend that none of them brings', async () => {
  const yaml = 'plugins: [ ./nope.mjs, nope-package, ./bad.mjs ]\ntokenizer: { backend: foo }';
  const { report, settings } = await refusals(['check', '--upstream', 'http://127.0.0.1:1'], yaml);
  const plugin = 'plugins in FILE';
  expect(settings).toEqual([plugin, plugin, plugin, 'tokenizer.backend in FILE']);
  expect(report).toMatch(/plugins in FILE = ".\/nope.mjs"\n {4}must be a plugin .*: it is not found/);
  expect(report).toMatch(/plugins in FILE = "nope-package"\n {4}must be a plugin .*: it is not found/);
  expect(report).toMatch(/plugins in FILE = ".\/bad.mjs"\n {4}must be a plugin .*: it cannot be imported/);
  expect(report).toContain(
    'known are vllm, llamacpp, estimate, auto; a plugin that cannot be loaded may have it',
  );
});

test('what a backend says of its own settings joins the report, and its plugin is loaded once', async () => {
  const yaml = 'plugins: [ ./good.mjs ]\ntokenizer: { backend: good }\nserver: { port: -1 }';
  const { report, settings } = await refusals(['check', '--engine', 'foo'], yaml);
  expect(settings).toEqual([
    '--upstream (or INCONTEXT_UPSTREAM_URL)',
    'server.port in FILE',
    '--engine',
    'backends.good.endpoint',
  ]);
  expect(report.match(/LOADED/g)).toHaveLength(1);
});

test('what an engine says of its own settings joins the report, beside what the backend says of its own', async () => {
  const yaml = `plugins: [ ./good.mjs, ./engine.mjs ]
tokenizer: { backend: good }
context: { engine: mine }
engines: { mine: { keep: 0 } }`;
  const both = await refusals(['check', '--upstream', 'http://127.0.0.1:1'], yaml);
  expect(both.settings).toEqual(['engines.mine.keep', 'backends.good.endpoint']);
  const alone = await refusals(['serve', '--upstream', 'http://127.0.0.1:1', '--backend', 'vllm'], yaml);
  expect(alone.settings).toEqual(['engines.mine.keep']);
  expect(alone.report).toContain('engines.mine.keep = 0\n    must be 1 or more\n    for example: 4');
});

test('an engine that cannot be loaded is refused with the place where it is, and one close by is named', async () => {
  const yaml = 'plugins: [ ./engine.mjs ]\ncontext: { engine: broken, plugins_dir: . }';
  await mkdir(join(folder, 'broken'), { recursive: true });
  await writeFile(join(folder, 'broken/plugin.yaml'), 'name: broken');
  const { report, settings } = await refusals(
    ['check', '--upstream', 'http://127.0.0.1:1', '--plugins-dir', folder],
    yaml,
  );
  expect(settings).toEqual(['context.engine in FILE']);
  expect(report).toContain(
    `must name a context engine that can be loaded: the folder ${join(folder, 'broken')} has no index.js`,
  );
  const close = await refusals(['check', '--upstream', 'http://127.0.0.1:1', '--engine', 'min'], yaml);
  expect(close.report).toContain('did you mean mine?');
});

test('what a backend says of its own settings is reported alone too, its plugin loaded once', async () => {
  const yaml = 'plugins: [ ./good.mjs ]\ntokenizer: { backend: good }';
  for (const name of ['check', 'serve']) {
    const { report, settings } = await refusals([name, '--upstream', 'http://127.0.0.1:1'], yaml);
    expect(settings).toEqual(['backends.good.endpoint']);
    expect(report.match(/LOADED/g)).toHaveLength(1);
  }
});

test.each([
  ['the tokenizer section', 'tokenizer: { backend: good, tokenizer_timeout_seconds: -1 }'],
  ['a key of the tokenizer section', 'tokenizer: { backend: good, tokenizer_ulr: x }'],
  ['its block', 'tokenizer: { backend: good }\nbackends: [ ]'],
  ['a model', 'tokenizer: { backend: good }\nmodels: { m: 1 }'],
])('a backend is not asked where %s is refused', async (_what, yaml) => {
  const { settings } = await refusals(
    ['check', '--upstream', 'http://127.0.0.1:1'],
    `plugins: [ ./good.mjs ]\n${yaml}`,
  );
  expect(settings).toHaveLength(1);
  expect(settings[0]).not.toBe('backends.good.endpoint');
});

test('a backend that fails otherwise adds nothing to the report', async () => {
  const yaml = 'plugins: [ ./good.mjs ]\ntokenizer: { backend: good }\nbackends: { good: { endpoint: x } }';
  const { settings } = await refusals(['check', '--upstream', 'http://127.0.0.1:1', '--port', '-1'], yaml);
  expect(settings).toEqual(['--port']);
});

test.each(['plugins: [ 3 ]', 'plugins: [ ./good.mjs'])(
  'a name is not called unknown where the plugins that may have it are unreadable: %s',
  async (yaml) => {
    const { settings } = await refusals(
      ['check', '--upstream', 'http://127.0.0.1:1', '--backend', 'good'],
      yaml,
    );
    expect(settings.join()).toContain('FILE');
    expect(settings).not.toContain('--backend');
  },
);
