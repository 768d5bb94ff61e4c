import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LoadJob } from './load.js';
import { type Measured, start, startOn } from './process.js';

const ROOT = resolve(import.meta.dirname, '..');
const TSX = join(ROOT, 'node_modules/tsx/dist/loader.mjs');

/** A way to reach the upstream. */
export interface Peer {
  readonly name: string;
  /** `undefined` where it is not installed. */
  start(upstream: string): Promise<Measured> | undefined;
  /** What its requests have to carry beside their own headers. */
  headers?(upstream: string): Readonly<Record<string, string>>;
  /** Whether it does what this row is about. Default: always. */
  takesPart?(job: Pick<LoadJob, 'path' | 'fresh'>): boolean;
  /** Which part of a row's requests is enough of so slow a peer. Default: all. */
  readonly share?: number;
}

/** Room for large bodies that wait for their count: collecting them early costs more than all the rest. */
const NODE_IN_THE_IMAGE = ['--initial-heap-size=256'];
/** One arena of the C library's allocator: each thread's own takes some 10 MiB more. */
const ENV_IN_THE_IMAGE = { NODE_ENV: 'production', MALLOC_ARENA_MAX: '1' };

/** The proxy as its image runs it. `args`: flags of `serve` beside where to listen and the upstream. */
export function startProxy(upstream: string, args: readonly string[]): Promise<Measured> {
  const serve = [join(ROOT, 'dist/cli.js'), 'serve', '--upstream', upstream, '--port', '0', ...args];
  return start(process.execPath, [...NODE_IN_THE_IMAGE, ...serve], ENV_IN_THE_IMAGE);
}

/** No peer compresses: what an engine costs stands on its own. */
export const CLAMPING = ['--engine', 'none'];

export const PROXY: Peer = {
  name: 'incontext-proxy',
  start: (upstream) => startProxy(upstream, CLAMPING),
};

/** `@fastify/http-proxy` as it comes: every ratio is to it. */
export const BARE: Peer = {
  name: '@fastify/http-proxy',
  start: (upstream) =>
    start(process.execPath, ['--import', TSX, join(ROOT, 'bench/bare.ts'), upstream], {
      NODE_ENV: 'production',
    }),
};

export const NGINX: Peer = {
  name: 'nginx',
  start: (upstream) => (spawnSync('nginx', ['-v']).error === undefined ? startNginx(upstream) : undefined),
};

export function startUpstream(env: NodeJS.ProcessEnv = {}): Promise<Measured> {
  return start(process.execPath, ['--import', TSX, join(ROOT, 'bench/upstream.ts')], env);
}

async function startNginx(upstream: string): Promise<Measured> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'bench-nginx-'));
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 1024; }
http {
  access_log off; client_max_body_size 64m; client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  upstream backend { server ${new URL(upstream).host}; keepalive 64; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_request_buffering off; }
  }
}
`,
  );
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return startOn(`http://127.0.0.1:${port}`, 'nginx', ['-c', config]);
}

export function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
