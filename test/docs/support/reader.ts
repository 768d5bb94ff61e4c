import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './markdown.js';

/** The ports that the pages speak of, and names that stand for the reader's own machines. */
const PORTS = ['8000', '8001', '8787', '9000'];
const HOSTS = ['my-vllm'];
const LONG_RUNNING = /^(?:\w+=\S+ )*node dist\/cli\.js (serve|simulate)\b/;
const LINKED = new Set(['node_modules', 'examples', 'config', 'package.json']);
const DEADLINE_MS = 30_000;

interface Running {
  readonly child: ChildProcess;
  readonly port: string;
  readonly ended: Promise<void>;
}

/**
 * Someone who follows a page in a clone, block by block: what keeps running goes on in a terminal of its own.
 * A command on a port that is taken by an earlier one ends that one first, as a reader has to.
 */
export class Reader {
  readonly folder = mkdtempSync(join(tmpdir(), 'reader-'));
  readonly #ports = new Map<string, string>();
  #running: Running[] = [];

  static async arrive(): Promise<Reader> {
    const reader = new Reader();
    for (const port of PORTS) reader.#ports.set(port, await freePort());
    for (const name of readdirSync(ROOT)) {
      if (LINKED.has(name)) symlinkSync(join(ROOT, name), join(reader.folder, name));
    }
    // A build that runs meanwhile must not pull the ground away.
    cpSync(join(ROOT, 'dist'), join(reader.folder, 'dist'), { recursive: true });
    // On a terminal curl shows no progress.
    writeFileSync(join(reader.folder, '.curlrc'), 'silent\nshow-error\n');
    return reader;
  }

  save(name: string, text: string): void {
    writeFileSync(join(this.folder, name), this.#here(text));
  }

  /** Runs a block of a page. @returns what a reader sees; of what keeps running, until it listens. */
  async run(text: string): Promise<string> {
    const script = text.replace(/\\\n\s*/g, '');
    const kind = LONG_RUNNING.exec(script)?.[1];
    const seen = await (kind === undefined ? this.#finish(this.#spawn(script)) : this.#start(script, kind));
    const host = HOSTS.find((each) => text.includes(each));
    return host === undefined
      ? this.#there(seen)
      : this.#there(seen).replaceAll('127.0.0.1:8000', `${host}:8000`);
  }

  /** Runs a program that is given as a file of the reader's. */
  async program(command: string): Promise<string> {
    return this.#there(await this.#finish(this.#spawn(command)));
  }

  async leave(): Promise<void> {
    await Promise.all(this.#running.splice(0).map(end));
    rmSync(this.folder, { recursive: true });
  }

  async #start(script: string, kind: string): Promise<string> {
    const port = this.#here(/--port (\d+)/.exec(script)?.[1] ?? (kind === 'serve' ? '8787' : '8000'));
    const before = this.#running.filter((one) => one.port === port);
    this.#running = this.#running.filter((one) => one.port !== port);
    await Promise.all(before.map(end));
    const child = this.#spawn(
      script.includes('--port') || script.includes('--config') ? script : `${script} --port ${port}`,
    );
    const ended = new Promise<void>((done) => child.once('close', () => done()));
    this.#running.push({ child, port, ended });
    const seen = await within(DEADLINE_MS, child, Promise.race([listening(child), output(child)]));
    if (kind === 'serve' && child.exitCode === null) await settle(port);
    return seen;
  }

  #spawn(script: string): ChildProcess {
    const { PATH = '' } = process.env;
    const env = { PATH, HOME: this.folder, CURL_HOME: this.folder, COLUMNS: '100' };
    // A group of its own, so that it can be ended with everything it started.
    return spawn('bash', ['-c', this.#here(script)], { cwd: this.folder, env, detached: true });
  }

  #finish(child: ChildProcess): Promise<string> {
    return within(DEADLINE_MS, child, output(child));
  }

  #here(text: string): string {
    const ported = text.replace(/\b\d{4}\b/g, (port) => this.#ports.get(port) ?? port);
    return HOSTS.reduce((all, host) => all.replaceAll(host, '127.0.0.1'), ported);
  }

  #there(text: string): string {
    return [...this.#ports].reduce((all, [page, own]) => all.replaceAll(own, page), text);
  }
}

/** Ends a program that takes longer. */
async function within<T>(ms: number, child: ChildProcess, waited: Promise<T>): Promise<T> {
  const timer = setTimeout(() => signal(child, 'SIGKILL'), ms);
  try {
    return await waited;
  } finally {
    clearTimeout(timer);
  }
}

async function output(child: ChildProcess): Promise<string> {
  const seen = collect(child);
  await new Promise((done) => child.once('close', done));
  return seen();
}

function collect(child: ChildProcess): () => string {
  let seen = '';
  const add = (chunk: Buffer) => {
    seen += chunk;
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  return () => seen;
}

function listening(child: ChildProcess): Promise<string> {
  const seen = collect(child);
  return new Promise((done) => {
    child.stdout?.on('data', () => {
      if (seen().includes(' listening on ')) done(seen());
    });
  });
}

/** As long as a reader needs to turn to the other terminal: until the proxy has heard of its upstream. */
async function settle(port: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/incontext/ready`).catch(() => undefined);
    if (answer?.status === 200) return;
    await new Promise((done) => setTimeout(done, 50));
  }
}

async function end({ child, ended }: Running): Promise<void> {
  signal(child, 'SIGTERM');
  const timer = setTimeout(() => signal(child, 'SIGKILL'), 3000);
  await ended;
  clearTimeout(timer);
}

function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

/** Below the range that systems hand out by themselves, so that nobody is given it meanwhile. */
async function freePort(): Promise<string> {
  const port = randomInt(20_000, 30_000);
  const server = createServer();
  const isFree = await new Promise<boolean>((done) => {
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => done(true));
  });
  if (!isFree) return freePort();
  await new Promise((done) => server.close(done));
  return String(port);
}
