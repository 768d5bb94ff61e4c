import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { TestProxy } from '../../support/proxy.js';
import { pythonEnvironment, SITE } from '../support/python.js';
import { exchanges, REAL, type Stage, setStage, told } from '../support/stage.js';

/** Its own prompt and tools take about five thousand tokens. */
const WINDOW = 16_384;
const NEEDED = 12_000;

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ contextLength: WINDOW });
});
afterAll(() => stage.close());

let home = '';
let work = '';
beforeEach(({ skip }) => {
  if (stage.contextLength < NEEDED)
    skip(`${REAL} serves ${stage.contextLength} tokens, too few for Hermes Agent`);
  home = mkdtempSync(join(tmpdir(), 'incontext-hermes-'));
  work = join(home, 'work');
  mkdirSync(work);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

interface Ended {
  readonly code: number | string;
  readonly out: string;
}

/** `hermes -z PROMPT`, configured as docs/agents.md says. */
function hermes(proxyUrl: string, prompt: string): Promise<Ended> {
  writeFileSync(
    join(home, 'config.yaml'),
    `model:
  provider: custom
  base_url: ${proxyUrl}/v1
  default: ${stage.model}
  context_length: 1000000
compression:
  enabled: false
`,
  );
  const env = { ...pythonEnvironment(), HOME: home, HERMES_HOME: home, NO_COLOR: '1' };
  const asked = ['-z', prompt, '-t', 'file,terminal', '--yolo'];
  return new Promise((resolve) => {
    const how = { env, cwd: work, timeout: 150_000, maxBuffer: 10_000_000 };
    execFile('python3', [join(SITE, 'bin/hermes'), ...asked], how, (error, out) =>
      resolve({ code: error?.code ?? 0, out: out.trim() }),
    );
  });
}

const call = (name: string, input: object) => ({ tool_calls: [{ name, arguments: input }] });
/** It looks for other servers' endpoints first. */
const chats = (proxy: TestProxy) => exchanges(proxy).filter(({ route }) => route === 'chat_completions');
const wordsFile = () => readFileSync(join(work, 'notes.txt'), 'utf8');

test('Hermes Agent does a task of several tool turns', async () => {
  const rounds = [
    call('write_file', { path: 'notes.txt', content: 'one two three' }),
    call('read_file', { path: 'notes.txt' }),
    call('terminal', { command: 'wc -w < notes.txt' }),
    { text: 'There are three words in notes.txt.' },
  ];
  const { code, out } = await hermes(
    stage.clamping.url,
    told('Write three words, and count them.', { rounds }),
  );
  expect(code).toBe(0);
  const done = chats(stage.clamping);
  expect(new Set(done.map(({ status, outcome }) => `${status} ${outcome}`))).toEqual(
    new Set(['200 complete']),
  );
  expect(new Set(done.map(({ source }) => source)).has('none')).toBe(false);
  if (REAL !== undefined) return;
  expect(out).toBe('There are three words in notes.txt.');
  expect(wordsFile()).toBe('one two three');
  expect(done).toHaveLength(rounds.length);
});

test('Hermes Agent tries again where the server is busy', async () => {
  stage.relay.fail(1, { status: 503, headers: { 'retry-after': '0' } });
  const { code, out } = await hermes(stage.clamping.url, told('hi', { text: 'hello there' }));
  expect({ code, tried: stage.relay.generations }).toEqual({ code: 0, tried: 2 });
  if (REAL === undefined) expect(out).toBe('hello there');
});
