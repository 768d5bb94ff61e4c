// Runs test/vllm against real servers, one after the other, each started by scripts/serve-vllm.sh for its run.
//   npm run test:vllm -- [--vllm 0.32.0,0.16.0] [--setup plain,flags,render] [--url URL [--api-key KEY]] [-- ARGUMENTS FOR VITEST]
// With --url nothing is started: that server is taken for the one of `--vllm` and `--setup`, by default 0.32.0 and plain.
// A version that cannot be had here is skipped, and said to be; where none can be had, it ends with 69.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const UNAVAILABLE = 69;
/** Installation over a slow line included. */
const START_MS = 30 * 60_000;

/** How the servers are started; `test/vllm/support/servers.ts` starts simulators in the same ways. */
const SETUPS = {
  plain: { options: [], flags: () => [] },
  flags: {
    apiKey: 'sekret',
    options: ['--ctx', '131072'],
    flags: (version) => [
      ...['--api-key', 'sekret', '--served-model-name', 'tiny', 'tiny-alias'],
      ...[
        '--trust-request-chat-template',
        '--exclude-tools-when-tool-choice-none',
        '--reasoning-parser',
        'qwen3',
      ],
      ...['--default-chat-template-kwargs', '{"enable_thinking":false}'],
      ...(version.startsWith('0.32') ? ['--enable-scale-out'] : []),
    ],
  },
  render: { options: ['--render'], flags: () => [], only: '0.32' },
};

const [ours, theirs] = split(process.argv.slice(2));
const VERSIONS = ['0.32.0', '0.16.0'];
const USAGE = `npm run test:vllm -- [--vllm ${VERSIONS}] [--setup ${Object.keys(SETUPS)}] [--url URL [--api-key KEY]]
                     [-- ARGUMENTS FOR VITEST]`;
const values = readArguments();

const results = [];
if (values.url !== undefined) {
  const server = { version: values.vllm ?? '0.32.0', setup: values.setup ?? 'plain' };
  results.push([server, await test({ ...server, url: values.url, apiKey: values['api-key'] })]);
} else {
  for (const version of values.vllm?.split(',') ?? VERSIONS) {
    for (const setup of values.setup?.split(',') ?? Object.keys(SETUPS)) {
      if (SETUPS[setup].only !== undefined && !version.startsWith(SETUPS[setup].only)) continue;
      results.push([{ version, setup }, await serveAndTest(version, setup)]);
    }
  }
}
for (const [{ version, setup }, result] of results) console.log(`vLLM ${version}, ${setup}: ${result}`);
const had = (result) => results.some(([, one]) => one === result);
process.exit(had('failed') ? 1 : had('passed') ? 0 : UNAVAILABLE);

function readArguments() {
  try {
    const { values } = parseArgs({
      args: ours,
      options: {
        vllm: { type: 'string' },
        setup: { type: 'string' },
        url: { type: 'string' },
        'api-key': { type: 'string' },
        help: { type: 'boolean' },
      },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    known('--vllm', values.vllm, VERSIONS);
    known('--setup', values.setup, Object.keys(SETUPS));
    return values;
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`);
    process.exit(2);
  }
}

function known(flag, value, names) {
  const other = value?.split(',').find((name) => !names.includes(name));
  if (other !== undefined) throw new Error(`${flag} is one or more of ${names}, not "${other}"`);
}

function split(words) {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  return [words.slice(0, end), words.slice(end + 1)];
}

async function serveAndTest(version, setup) {
  const { options, flags, apiKey } = SETUPS[setup];
  const port = await freePort();
  console.log(`\n== vLLM ${version}, ${setup}: starting`);
  const child = spawn(
    `${root}scripts/serve-vllm.sh`,
    ['--vllm', version, '--port', String(port), ...options, '--', ...flags(version)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const stop = () => child.kill();
  process.once('exit', stop);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));
  try {
    const started = await listening(child);
    if ('missing' in started) return `skipped, ${started.missing}`;
    return await test({ version, setup, url: started.url, apiKey });
  } finally {
    process.off('exit', stop);
    const ended = new Promise((done) => (child.exitCode === null ? child.once('close', done) : done()));
    stop();
    await ended;
  }
}

function test(server) {
  const files = theirs.some((word) => word.startsWith('test/')) ? [] : [`test/vllm/${server.setup}/`];
  const vitest = spawn('npx', ['vitest', 'run', '--project', 'vllm', ...files, ...theirs], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, INCONTEXT_TEST_VLLM: JSON.stringify(server) },
  });
  return new Promise((done) => vitest.once('close', (code) => done(code === 0 ? 'passed' : 'failed')));
}

function listening(child) {
  let stdout = '';
  let stderr = '';
  return new Promise((done, fail) => {
    const late = setTimeout(() => fail(new Error(`vLLM does not start: ${stderr}`)), START_MS);
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      const url = /listening on (http:\/\/\S+)/.exec(stdout)?.[1];
      if (url === undefined) return;
      clearTimeout(late);
      done({ url });
    });
    child.stderr.on('data', (chunk) => {
      stderr = (stderr + chunk).slice(-4000);
    });
    child.once('close', (code) => {
      clearTimeout(late);
      if (code === UNAVAILABLE) done({ missing: stderr.trim().split('\n').at(-1) });
      else fail(new Error(`vLLM ended with ${code}: ${stderr}`));
    });
  });
}

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}
