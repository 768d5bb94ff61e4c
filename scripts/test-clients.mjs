// Runs test/clients with the clients that are written in Python too, which come from PyPI, pinned, into a cache outside the clone.
//   npm run test:clients -- [ARGUMENTS FOR VITEST]
// Against a real server: UPSTREAM=http://HOST:PORT npm run test:clients
// Ends with 69 and the reason where they cannot be had.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const pins = join(root, 'scripts/clients-requirements.txt');
const UNAVAILABLE = 69;

const env = { ...process.env, INCONTEXT_TEST_CLIENTS: installed() };
const { status } = spawnSync('npx', ['vitest', 'run', '--project', 'clients', ...process.argv.slice(2)], {
  cwd: root,
  env,
  stdio: 'inherit',
});
process.exit(status ?? 1);

/** The folder with what is pinned: a broken installation never stands there. */
function installed() {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'incontext-proxy');
  const digest = createHash('sha256').update(readFileSync(pins)).digest('hex').slice(0, 16);
  const site = join(cache, `clients-${digest}`);
  if (existsSync(site)) return site;
  if (python(['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']) !== 0)
    unavailable('needs Python 3.11 or newer');
  if (python(['-m', 'pip', '--version']) !== 0)
    unavailable("needs Python's pip (Debian: apt-get install python3-pip)");
  mkdirSync(cache, { recursive: true });
  const fresh = mkdtempSync(join(cache, 'fresh-'));
  try {
    console.log('test-clients: installing the clients from PyPI, once');
    const settings = [
      '--quiet',
      '--root-user-action',
      'ignore',
      '--disable-pip-version-check',
      '--retries',
      '2',
    ];
    const what = ['--no-deps', '--only-binary', ':all:', '--target', fresh, '--requirement', pins];
    if (python(['-m', 'pip', 'install', ...settings, ...what]) !== 0)
      unavailable('the clients cannot be installed');
    if (!existsSync(site)) renameSync(fresh, site);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return site;
}

function python(words) {
  return spawnSync('python3', words, { stdio: ['ignore', 'ignore', 'inherit'] }).status;
}

function unavailable(reason) {
  console.error(`test-clients: skipped, ${reason}`);
  process.exit(UNAVAILABLE);
}
