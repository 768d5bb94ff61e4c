import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStub, type UpstreamStub } from '../support/upstream-stub.js';
import { Consumers, type Installed } from './support/installed.js';
import { PACKAGE, ROOT } from './support/paths.js';
import { run } from './support/run.js';

const consumers = new Consumers();
let files: string[];
let whole: Installed;
let lean: Installed;
let stub: UpstreamStub;

beforeAll(async () => {
  stub = await startStub({ window: 32_768, count: 9 });
  files = (await consumers.pack()).map(({ path }) => path);
  whole = await consumers.install('whole');
  lean = await consumers.install('lean', '--omit=optional');
}, 180_000);

afterAll(async () => {
  await stub.close();
  consumers.remove();
});

const inDist = () => files.filter((path) => path.startsWith('dist/'));
const packed = (path: string) =>
  readFileSync(join(whole.folder, 'node_modules/incontext-proxy', path), 'utf8');

describe('the archive', () => {
  test('has what a user needs, and nothing of the workshop', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'package.json',
        'README.md',
        'LICENSE',
        'CHANGELOG.md',
        'CONTRIBUTING.md',
        'config/incontext.yaml',
        'config/incontext.schema.json',
      ]),
    );
    const folders = files.filter((path) => path.includes('/')).map((path) => path.split('/')[0]);
    expect([...new Set(folders)].toSorted()).toEqual(['config', 'dist', 'docs', 'examples']);
  });

  test('has every source built, and nothing of sources that are gone', () => {
    expect(inDist().length).toBeGreaterThan(300);
    const sources = inDist().map((path) =>
      path.replace(/^dist\//, 'src/').replace(/\.(d\.ts|js|js\.map)$/, '.ts'),
    );
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(new Set(sources).size * 3).toBe(inDist().length);
  });

  test('has source maps that bring their sources along', () => {
    const maps = inDist().filter((path) => path.endsWith('.map'));
    expect(maps.length).toBeGreaterThan(100);
    for (const path of maps) {
      const { sources, sourcesContent } = JSON.parse(packed(path)) as Record<string, string[]>;
      expect(sourcesContent?.filter((text) => text.length > 0)).toHaveLength(sources?.length ?? 0);
    }
  });

  test('is clean in the eyes of publint', async () => {
    const tarball = readFileSync(consumers.archive);
    const { messages, pkg } = await publint({
      pack: { tarball: new Uint8Array(tarball).buffer },
      strict: true,
    });
    expect(pkg).toMatchObject({ name: 'incontext-proxy' });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });
});

describe.each(['whole', 'lean'] as const)('installed %s', (which) => {
  const installed = () => (which === 'whole' ? whole : lean);

  test('the command helps and tells its version', async () => {
    const help = await installed().npx('--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('Usage: incontext-proxy COMMAND');
    expect((await installed().npx('--version')).stdout).toBe(`${PACKAGE.version}\n`);
    const serve = await installed().npx('serve', '--help');
    expect(serve).toMatchObject({ code: 0, stderr: '' });
    expect(serve.stdout).toContain('--min-output-tokens');
  });

  test('check asks the server and says what would be in force', async () => {
    const { code, stdout, stderr } = await installed().npx('check', '--upstream', stub.url);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const line of ['backend: vllm', 'context_length: 32768', 'window: 24576', 'reserve: 4096']) {
      expect(stdout.split('\n')).toContain(line);
    }
  });

  test('a program imports what the package exports', async () => {
    const program = `
      import { createProxy, loadSettings, VERSION } from 'incontext-proxy';
      const loaded = loadSettings({ flags: { upstream: '${stub.url}', port: '0' }, env: {}, readFile: () => '', cwd: '.' });
      const proxy = await createProxy({ settings: loaded.settings });
      const answer = await fetch(proxy.url + '/incontext/live');
      console.log(VERSION, await answer.text());
      await proxy.close();
    `;
    const { folder } = installed();
    const { stdout } = await run([process.execPath, '--input-type=module', '--eval', program], {
      cwd: folder,
    });
    expect(stdout).toContain(`${PACKAGE.version} {"status":"live"}`);
  });
});

test('the demo plays where the optional packages are', async () => {
  const { code, stdout } = await whole.npx('demo', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, failures: 0, direct_failures: 5 });
});

test.each(['demo', 'simulate'])('%s says what to install where they are not', async (command) => {
  const { code, stderr } = await lean.npx(command);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /needs the optional packages? \S+(, \S+)*: install again with npm install --include=optional\n$/,
  );
});

test('the lock file names no registry', () => {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  expect(lock).toContain('"integrity"');
  expect(lock).not.toContain('"resolved"');
});

test('every package of the lock file runs on this version of Node', async () => {
  const { code, stderr } = await run(['npm', 'ci', '--dry-run', '--no-audit', '--no-fund'], { cwd: ROOT });
  expect(stderr).not.toContain('EBADENGINE');
  expect(code).toBe(0);
});
