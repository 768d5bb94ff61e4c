import { readFileSync } from 'node:fs';
import { EXIT } from '../cli/parse-command.js';
import type { Streams } from '../cli/streams.js';
import type { Flags } from '../config/flags.js';
import { ENDPOINTS, endpointAt } from '../exchange/endpoint.js';
import { explanation, unchanged } from '../exchange/plan.js';
import { prepareExchange } from '../exchange/prepare.js';
import { createLog } from '../observe/log.js';
import { assemble } from '../server/assemble.js';
import { explainStartFailure, readSettings } from './settings.js';

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
  { input, endpoint: path = ENDPOINTS[0].path }: Explained,
  json: boolean,
  streams: Streams,
): Promise<number> {
  const endpoint = endpointAt('POST', path);
  if (endpoint === undefined) {
    const known = ENDPOINTS.map((each) => each.path).join(', ');
    streams.err(`incontext-proxy: what is sent to ${path} passes as it is; explain knows ${known}`);
    return EXIT.usage;
  }
  const loaded = await readSettings(flags, streams);
  if (loaded === undefined) return EXIT.failed;
  let body: Buffer;
  try {
    body = readFileSync(input === '-' ? STANDARD_INPUT : input);
  } catch {
    streams.err(`incontext-proxy: ${input} cannot be read`);
    return EXIT.usage;
  }
  try {
    const parts = await assemble({ ...loaded, log: createLog('silent') });
    await parts.prober.start();
    const credential = parts.access.upstreamAuthorization ?? undefined;
    const call = { signal: new AbortController().signal, credential, path };
    const plan =
      body.length > loaded.settings.server.bodyLimit
        ? unchanged(body, 'body_too_large')
        : await prepareExchange(body, { endpoint, call, explainOnly: true }, parts);
    const { reachable } = parts.prober;
    await parts.close();
    const values = explanation(plan);
    streams.out(json ? JSON.stringify(values, undefined, 2) : lines(values));
    if (reachable) return EXIT.ok;
    streams.err('incontext-proxy: the upstream does not answer; incontext-proxy check says more');
    return EXIT.failed;
  } catch (error) {
    explainStartFailure(error, streams);
    return EXIT.failed;
  }
}

function lines(values: Record<string, unknown>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}: ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join('\n');
}
