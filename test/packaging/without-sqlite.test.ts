import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ROOT } from '../docs/support/markdown.js';
import { run } from './support/run.js';

const SQLITE = 'better-sqlite3';
const folder = mkdtempSync(join(tmpdir(), 'incontext-without-sqlite-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** As npm leaves it where it runs no install scripts. */
function installWithoutScripts(): void {
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== SQLITE) symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
  }
  for (const part of ['lib', 'package.json']) {
    cpSync(join(ROOT, 'node_modules', SQLITE, part), join(packages, SQLITE, part), { recursive: true });
  }
  for (const part of ['dist', 'package.json']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
}

test('where SQLite was not compiled, demo and serve say what to run', async () => {
  installWithoutScripts();
  for (const command of [
    ['demo', '--json'],
    ['serve', '--port', '0', '--upstream', 'http://127.0.0.1:9'],
  ]) {
    const { code, stderr } = await run(['node', 'dist/cli.js', ...command], { cwd: folder });
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain('npm rebuild better-sqlite3');
    expect(stderr).not.toContain('    at ');
  }
});
