import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LoadJob } from './load.js';
import { freePort, type Peer } from './peers.js';
import { startOn } from './process.js';

/** Gateways, which read each chat and write it anew: they take part where they are installed. */

const ROOT = resolve(import.meta.dirname, '..');

/** A gateway does not count, and it drops the query that asks the upstream for a stream. */
function isRelayed({ path, fresh }: Pick<LoadJob, 'path' | 'fresh'>): boolean {
  return path === '/v1/chat/completions' && fresh === 'nothing';
}

/** @param folder where `npm install --prefix` put it; beside the packages of the project. */
export function portkey(folder: string | undefined): Peer {
  const parents = [ROOT, ...(folder === undefined ? [] : [resolve(folder)])];
  const script = parents
    .map((parent) => join(parent, 'node_modules/@portkey-ai/gateway/build/start-server.js'))
    .find((path) => existsSync(path));
  return {
    name: 'Portkey gateway',
    takesPart: isRelayed,
    headers: (upstream) => ({
      authorization: 'Bearer none',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/v1`,
    }),
    start: () => (script === undefined ? undefined : startPortkey(script)),
  };
}

async function startPortkey(script: string) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  return startOn(url, process.execPath, [script, `--port=${port}`, '--headless'], { NODE_ENV: 'production' });
}

/** @param folder a virtual environment that has it; beside the search path. */
export function litellm(folder: string | undefined): Peer {
  const commands = [...(folder === undefined ? [] : [join(resolve(folder), 'bin/litellm')]), 'litellm'];
  const command = commands.find((each) => spawnSync(each, ['--version']).error === undefined);
  return {
    name: 'LiteLLM',
    takesPart: isRelayed,
    // Each of its requests takes tens of times as long.
    share: 0.1,
    start: (upstream) => (command === undefined ? undefined : startLitellm(command, upstream)),
  };
}

async function startLitellm(command: string, upstream: string) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'bench-litellm-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, 'config.yaml');
  const model = { model: 'openai/m', api_base: `${upstream}/v1`, api_key: 'none' };
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ model_list: [{ model_name: 'm', litellm_params: model }] }));
  const flags = ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'];
  return startOn(`http://127.0.0.1:${port}`, command, flags, {
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY: 'true',
    LITELLM_LOG: 'ERROR',
  });
}
