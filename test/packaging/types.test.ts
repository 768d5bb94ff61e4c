import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPage } from '../docs/support/markdown.js';
import { Consumers, type Installed } from './support/installed.js';
import { PACKAGE, ROOT } from './support/paths.js';
import { run, runOk } from './support/run.js';

const TYPES = '@types/node';
const CONSUMER = `
  import { type Backend, createProxy, decide, type PluginContext, type RunningProxy } from 'incontext-proxy';
  import { loadSettings, type Settings } from 'incontext-proxy';

  export async function start(settings: Settings): Promise<RunningProxy> {
    return createProxy({ settings });
  }
  export const backend = (count: number): Pick<Backend, 'count' | 'source'> => ({
    source: 'mine',
    count: async (request, { signal }) => ({ tokens: signal.aborted ? 0 : count + (request.text('model')?.length ?? 0) }),
  });
  export const register = ({ registerBackend }: PluginContext): void => void registerBackend;
  export const reasons: string = decide.name + loadSettings.name;
`;
const MISTAKE = `
  import { createProxy } from 'incontext-proxy';
  createProxy({ settings: 'none' });
`;

const consumers = new Consumers();
let consumer: Installed;

beforeAll(async () => {
  await consumers.pack();
  consumer = await consumers.install('typed', '--omit=optional', '--ignore-scripts');
}, 120_000);

afterAll(() => consumers.remove());

/** Compiles a project of these files strictly, every declaration that it reaches included. */
async function compile(files: Readonly<Record<string, string>>) {
  const { folder } = consumer;
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const compilerOptions = {
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    target: 'es2023',
    module: 'nodenext',
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: Object.keys(files) }),
  );
  return run([process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc')], { cwd: folder });
}

test('an installation to run brings no types of Node along', () => {
  expect(existsSync(join(consumer.folder, 'node_modules', TYPES))).toBe(false);
});

test('the package says which types it needs, and that only programs in TypeScript do', () => {
  expect(PACKAGE.peerDependencies).toEqual({ [TYPES]: '>=20' });
  expect(PACKAGE.peerDependenciesMeta).toEqual({ [TYPES]: { optional: true } });
});

describe('a project with the types of Node', () => {
  beforeAll(async () => {
    const spec = `${TYPES}@${PACKAGE.devDependencies[TYPES]}`;
    const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--omit=optional', '--ignore-scripts'];
    await runOk(['npm', 'install', ...flags, '--save-dev', spec], { cwd: consumer.folder });
  }, 120_000);

  test('compiles against the package', async () => {
    expect(await compile({ 'consumer.ts': CONSUMER })).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('compiles every program of api.md', async () => {
    const programs = readPage('docs/api.md').blocks.filter(({ language }) => language === 'ts');
    expect(programs.length).toBeGreaterThan(3);
    const files = programs.map(({ line, text }) => [`line-${line}.ts`, text]);
    expect(await compile(Object.fromEntries(files))).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('is told of a mistake', async () => {
    const { code, stdout } = await compile({ 'mistake.ts': MISTAKE });
    expect(code).not.toBe(0);
    expect(stdout).toContain("Type 'string' is not assignable to type 'Settings'");
  });
});
