import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the real llama.cpp answers, or why there is none. */
    llamacpp: { readonly url: string } | { readonly missing: string };
  }
}

const SCRIPT = resolve(import.meta.dirname, '../../../scripts/serve-llamacpp.sh');
const TEMPLATE = resolve(import.meta.dirname, 'chatml-tools.jinja');
/** Of both slots together, in tokens. */
const CONTEXT = 4096;
const SLOTS = 2;
const UNAVAILABLE = 69;
/** A slow line takes its time for 126 MB. */
const START_MS = 10 * 60_000;

/** Starts the real server; without PyPI there is none, and the tests are skipped. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const args = ['--port', '0', '--ctx', String(CONTEXT), '--parallel', String(SLOTS)];
  const child = spawn(SCRIPT, [...args, '--chat-template-file', TEMPLATE, '--with-parent'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = await listening(child);
  if ('missing' in started) process.stderr.write(`llamacpp: skipped, ${started.missing}\n`);
  project.provide('llamacpp', started);
  return async () => {
    if (child.exitCode !== null) return;
    const ended = new Promise((done) => child.once('close', done));
    child.kill();
    await ended;
  };
}

function listening(child: ChildProcess): Promise<{ url: string } | { missing: string }> {
  let stdout = '';
  let stderr = '';
  return new Promise((done, fail) => {
    const late = setTimeout(() => {
      child.kill();
      fail(new Error(`llama.cpp does not start: ${stderr.slice(-2000)}`));
    }, START_MS);
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk;
      const url = /listening on (http:\/\/\S+)/.exec(stdout)?.[1];
      if (url === undefined) return;
      clearTimeout(late);
      done({ url });
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk).slice(-20_000);
    });
    child.once('error', fail);
    child.once('close', (code) => {
      clearTimeout(late);
      if (code === UNAVAILABLE) done({ missing: stderr.trim().split('\n').at(-1) ?? 'no reason given' });
      else fail(new Error(`llama.cpp ended with ${code}: ${stderr.slice(-2000)}`));
    });
  });
}
