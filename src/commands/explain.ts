import { readFileSync } from 'node:fs';
import { EXIT } from '../cli/parse-command.js';
import type { Streams } from '../cli/streams.js';
import type { Flags } from '../config/flags.js';
import type { Endpoint } from '../exchange/endpoint.js';
import { explanation, type Plan, unchanged } from '../exchange/plan.js';
import { prepareExchange } from '../exchange/prepare.js';
import { createLog } from '../observe/log.js';
import { assemble } from '../server/assemble.js';
import { explainedEndpoint } from '../server/explained-endpoint.js';
import { type CommandSettings, explainStartFailure, readSettings } from './settings.js';

const STANDARD_INPUT = 0;

export interface Explained {
  /** A path of a file, or `-`. */
  readonly input: string;
  /** Where the request is sent to: a path. */
  readonly endpoint?: string;
}

/** Says what would be done with a request body, and why. */
export async function explain(
  flags: Flags,
  { input, endpoint: target }: Explained,
  json: boolean,
  streams: Streams,
): Promise<number> {
  const loaded = await readSettings(flags, streams);
  if (loaded === undefined) return EXIT.failed;
  const endpoint = explainedEndpoint(target, loaded.settings.server.pathPrefix);
  if (endpoint === 'no_path') {
    streams.err(`incontext-proxy: --endpoint takes a path such as /v1/responses, not ${target}`);
    return EXIT.usage;
  }
  let body: Buffer;
  try {
    body = readFileSync(input === '-' ? STANDARD_INPUT : input);
  } catch {
    streams.err(`incontext-proxy: ${input} cannot be read`);
    return EXIT.usage;
  }
  const say = (plan: Plan) => {
    const values = explanation(plan);
    streams.out(json ? JSON.stringify(values, undefined, 2) : lines(values));
  };
  if (endpoint === 'passes') {
    say(unchanged(body, 'ignored'));
    return EXIT.ok;
  }
  try {
    const { plan, reachable } = await planned(body, endpoint, loaded);
    say(plan);
    if (reachable) return EXIT.ok;
    streams.err('incontext-proxy: the upstream does not answer; incontext-proxy check says more');
    return EXIT.failed;
  } catch (error) {
    explainStartFailure(error, streams);
    return EXIT.failed;
  }
}

async function planned(
  body: Buffer,
  endpoint: Endpoint,
  { settings, backend, engine }: CommandSettings,
): Promise<{ plan: Plan; reachable: boolean }> {
  const parts = await assemble({ settings, backend, engine, log: createLog('silent') });
  await parts.prober.start();
  const credential = parts.access.upstreamAuthorization ?? undefined;
  const call = { signal: new AbortController().signal, credential, path: endpoint.path };
  const plan =
    body.length > settings.server.bodyLimit
      ? unchanged(body, 'body_too_large')
      : await prepareExchange(body, { endpoint, call, explainOnly: true }, parts);
  const { reachable } = parts.prober;
  await parts.close();
  return { plan, reachable };
}

function lines(values: Record<string, unknown>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}: ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join('\n');
}
