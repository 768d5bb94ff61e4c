import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

export interface Ended {
  readonly signal: NodeJS.Signals | null;
  /** The lines that it wrote before its end. */
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** At the N-th message of a child to its store it dies, so many microseconds later; 0: it goes on to its end. */
export type Kill = readonly [at: number, microseconds: number];

/** Runs the child that commits until it ends. */
export function committingChild(
  folder: string,
  name: string,
  count: number,
  kill: Kill = [0, 0],
): Promise<Ended> {
  return child('committing-child.mjs', folder, name, count, ...kill);
}

/** Runs the child that writes a hidden round, deletes a conversation and then those of a certain age. */
export function removingChild(folder: string, what: object, kill: Kill = [0, 0]): Promise<Ended> {
  return child('removing-child.mjs', folder, JSON.stringify(what), ...kill);
}

/** Runs the child that brings a database up to date and dies at a step; 0: it goes on to its end. */
export function migratingChild(file: string, dieAt: number): Promise<Ended> {
  return child('migrating-child.mjs', file, dieAt);
}

function child(script: string, ...args: readonly (string | number)[]): Promise<Ended> {
  const running = spawn(process.execPath, [resolve(import.meta.dirname, script), ...args.map(String)]);
  let [stdout, stderr] = ['', ''];
  running.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  running.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  return new Promise((done) => {
    running.once('close', (_, signal) => done({ signal, stderr, lines: stdout.split('\n').filter(Boolean) }));
  });
}
