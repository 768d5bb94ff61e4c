import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

const SCRIPT = resolve(import.meta.dirname, 'committing-child.mjs');

export interface Ended {
  readonly signal: NodeJS.Signals | null;
  /** The lines that it wrote before its end. */
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** Runs the child that commits until it ends. */
export function committingChild(...args: readonly (string | number)[]): Promise<Ended> {
  const child = spawn(process.execPath, [SCRIPT, ...args.map(String)]);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  return new Promise((done) => {
    child.once('close', (_, signal) => done({ signal, stderr, lines: stdout.split('\n').filter(Boolean) }));
  });
}
