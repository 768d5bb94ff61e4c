import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE, ROOT } from './paths.js';
import { cleanEnvironment } from './run.js';

/**
 * The environment of a user whose installation downloads the compiled part of better-sqlite3: here it takes the one
 * of this checkout. Compiling it anew takes minutes.
 */
export function installEnvironment(folder: string): Record<string, string | undefined> {
  const name = 'better-sqlite3';
  const addon = join(ROOT, 'node_modules', name);
  const prebuilds = join(folder, 'prebuilds');
  mkdirSync(prebuilds, { recursive: true });
  const platform = `node-v${process.versions.modules}-${process.platform}-${process.arch}`;
  const archive = join(prebuilds, `${name}-v${PACKAGE.dependencies[name]}-${platform}.tar.gz`);
  execFileSync('tar', ['-czf', archive, '-C', addon, 'build/Release/better_sqlite3.node']);
  return { ...cleanEnvironment(), npm_config_better_sqlite3_local_prebuilds: prebuilds };
}
