import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { resolve } from 'node:path';

const CLI = resolve(import.meta.dirname, '../../dist/cli.js');

/** The built command, running. */
export interface RunningCommand {
  readonly child: ChildProcessWithoutNullStreams;
  stdout(): string;
  stderr(): string;
  /** The address in the first line of standard output. */
  url(): Promise<string>;
  /** The exit code. */
  readonly ended: Promise<number | null>;
}

/** Starts `incontext-proxy ARGS` with no environment but these variables. */
export function command(
  args: readonly string[],
  env: Record<string, string> = {},
  input = '',
): RunningCommand {
  const child = spawn(process.execPath, [CLI, ...args], { env: { PATH: process.env.PATH ?? '', ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  child.stdin.end(input);
  const ended = new Promise<number | null>((done) => child.once('close', done));
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    url: () =>
      new Promise((done, fail) => {
        const look = () => {
          const found = /^.* listening on (http:\/\/\S+)\n/.exec(stdout)?.[1];
          if (found !== undefined) done(found);
        };
        child.stdout.on('data', look);
        child.once('close', () => fail(new Error(`ended without listening: ${stderr}`)));
        look();
      }),
  };
}
