import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A process under measurement. */
export interface Measured {
  readonly url: string;
  /** Milliseconds from spawn to the line that says where it listens. */
  readonly startMs: number;
  /** CPU time used so far by it and its children, in milliseconds. */
  cpuMs(): number;
  /** Resident memory in MiB, its children included. */
  rssMiB(): number;
  stop(): Promise<void>;
}

/** Starts a process that says `... listening on URL` on its first line. */
export function start(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Measured> {
  const startedAt = performance.now();
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  endWithUs(child);
  return new Promise((resolve, reject) => {
    let out = '';
    child.once('close', (code) => reject(new Error(`${command} ${args.join(' ')} ended with ${code}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk;
      const url = /listening on (http:\/\/\S+)/.exec(out)?.[1];
      if (url !== undefined) resolve(measured(child, url, performance.now() - startedAt));
    });
  });
}

const START_MS = 120_000;

/** Starts a process that is told where to listen; it has started when it answers there. */
export async function startOn(
  url: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Measured> {
  const startedAt = performance.now();
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
  endWithUs(child);
  while (!(await answers(url))) {
    const isLate = performance.now() - startedAt > START_MS;
    if (child.exitCode !== null || isLate) throw new Error(`${command} ${args.join(' ')} does not answer`);
    await new Promise((done) => setTimeout(done, 10));
  }
  return measured(child, url, performance.now() - startedAt);
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/v1/models`).then(
    () => true,
    () => false,
  );
}

/** However the bench ends, nothing that it started goes on. */
function endWithUs(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}

function measured(child: ChildProcess, url: string, startMs: number): Measured {
  const pids = () => family(child.pid as number);
  return {
    url,
    startMs,
    cpuMs: () => sum(pids().map(cpuOf)),
    rssMiB: () => sum(pids().map(rssOf)),
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners('close').once('close', () => resolve());
        child.kill('SIGTERM');
        setTimeout(() => child.kill('SIGKILL'), 2000).unref();
      }),
  };
}

function family(pid: number): number[] {
  let children = '';
  try {
    children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  } catch {
    return [pid];
  }
  return [
    pid,
    ...children
      .trim()
      .split(' ')
      .filter(Boolean)
      .flatMap((child) => family(Number(child))),
  ];
}

/** On-CPU time of all threads: `schedstat` counts in nanoseconds where `stat` counts in ticks of 10 ms (proc(5)). */
function cpuOf(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return sum(
      threads.map(
        (tid) => Number(readFileSync(`/proc/${pid}/task/${tid}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
      ),
    );
  } catch {
    return 0;
  }
}

function rssOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
