import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pythonEnvironment, SITE } from '../support/python.js';

export interface Ended {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

/** Hermes Agent, configured as docs/agents.md says, in a home and a folder of its own. */
export interface HermesAgent {
  /** The folder it works in. */
  readonly work: string;
  write(files: ReadonlyMap<string, string>): void;
  /** `hermes ARGUMENTS`, with the tools for files and the terminal. */
  run(...words: readonly string[]): Promise<Ended>;
  remove(): void;
}

export function hermesAgent(proxyUrl: string, model: string): HermesAgent {
  const home = mkdtempSync(join(tmpdir(), 'incontext-hermes-'));
  const work = join(home, 'work');
  mkdirSync(work);
  writeFileSync(
    join(home, 'config.yaml'),
    `model:
  provider: custom
  base_url: ${proxyUrl}/v1
  default: ${model}
  context_length: 1000000
compression:
  enabled: false
`,
  );
  return {
    work,
    write: (files) => {
      for (const [path, text] of files) {
        mkdirSync(dirname(join(work, path)), { recursive: true });
        writeFileSync(join(work, path), text);
      }
    },
    run: (...words) => run(home, work, [...words, '-t', 'file,terminal', '--yolo']),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

function run(home: string, work: string, words: readonly string[]): Promise<Ended> {
  const env = { ...pythonEnvironment(), HOME: home, HERMES_HOME: home, NO_COLOR: '1' };
  return new Promise((resolve) => {
    const how = { env, cwd: work, timeout: 150_000, maxBuffer: 10_000_000 };
    execFile('python3', [join(SITE, 'bin/hermes'), ...words], how, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out: out.trim(), err: err.trim() }),
    );
  });
}
