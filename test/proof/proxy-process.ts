import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

export interface ProxyStart {
  readonly upstream: string;
  readonly dataDir: string;
  readonly engine: string;
  /** `dist` as shipped, or `src` without a build. */
  readonly code: 'dist' | 'src';
  /** 0: any free port. */
  readonly port?: number;
  /** Flags without their dashes. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Arguments of Node itself. */
  readonly nodeArguments?: readonly string[];
}

/** The proxy's own command, in a process of its own. */
export interface ProxyProcess {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  /** What it wrote, log lines first of all. */
  output(): string;
  /** Ends it without a chance to tidy up. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function startProxyProcess(start: ProxyStart): Promise<ProxyProcess> {
  const entry = start.code === 'dist' ? ['dist/cli.js'] : ['--import', 'tsx', 'src/cli.ts'];
  const flags = {
    upstream: start.upstream,
    port: String(start.port ?? 0),
    data: start.dataDir,
    engine: start.engine,
    'min-output-tokens': '1024',
    ...start.flags,
  };
  const written = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(process.execPath, [...(start.nodeArguments ?? []), ...entry, 'serve', ...written], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const url = await listening(child, () => output);
  await untilReady(url);
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  return {
    url,
    port: Number(new URL(url).port),
    child,
    output: () => output,
    kill: () => stop('SIGKILL'),
    close: () => stop('SIGTERM'),
  };
}

function listening(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((done, fail) => {
    const look = (): void => {
      const found = /listening on (http:\/\/[^\s"]+)/.exec(output())?.[1];
      if (found !== undefined) done(found);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('close', () => fail(new Error(`the proxy ended: ${output()}`)));
  });
}

async function untilReady(url: string): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const { status } = await fetch(`${url}/incontext/ready`);
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('the proxy did not become ready');
}
