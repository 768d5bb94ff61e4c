import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import { simulator } from '../../support/simulator.js';
import { type Relay, startRelay } from './relay.js';

/** A real server in the simulator's place: `UPSTREAM=http://HOST:PORT`. What its model says is anything. */
export const REAL = process.env.UPSTREAM;

export const CONTEXT_LENGTH = 4096;

/** A server, and proxies before it. */
export interface Stage {
  readonly model: string;
  readonly relay: Relay;
  /** Lowers caps: into the context length; of a real server to a few tokens, so that it ends. */
  readonly clamping: TestProxy;
  /** Passes caps that fit. */
  readonly plain: TestProxy;
  /** Compresses what is longer than a thousand tokens. */
  readonly compressing: TestProxy;
  close(): Promise<void>;
}

export async function setStage(): Promise<Stage> {
  const simulated =
    REAL === undefined
      ? await simulator({ models: [{ id: 'tiny', maxModelLen: CONTEXT_LENGTH }] })
      : undefined;
  const server = REAL ?? simulated?.url ?? '';
  const relay = await startRelay(server);
  const data = mkdtempSync(join(tmpdir(), 'incontext-clients-'));
  const upstream = { upstream: relay.url, data };
  const short: Record<string, string> = REAL === undefined ? {} : { 'max-output-tokens': '8' };
  const proxies = await Promise.all([
    startProxy({ ...upstream, ...short }),
    startProxy(upstream),
    startProxy({ ...upstream, engine: 'compressor', 'compression-window-tokens': '1000' }),
  ]);
  await Promise.all(proxies.map((proxy) => proxy.ready()));
  const [clamping, plain, compressing] = proxies as [TestProxy, TestProxy, TestProxy];
  return {
    model: await firstModel(server),
    relay,
    clamping,
    plain,
    compressing,
    close: async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await relay.close();
      await simulated?.close();
      rmSync(data, { recursive: true });
    },
  };
}

async function firstModel(server: string): Promise<string> {
  const { data } = (await (await fetch(`${server}/v1/models`)).json()) as { data: readonly { id: string }[] };
  return data[0]?.id ?? '';
}

/** A message with what the simulator is to do; of a real server only the words remain. */
export function told(words: string, script: object): string {
  return REAL === undefined ? `${words}\n!sim ${JSON.stringify(script)}` : words;
}

/** What was logged of the exchanges so far. */
export function exchanges(proxy: TestProxy): Record<string, unknown>[] {
  return proxy.logged.filter(({ msg }) => msg === 'exchange');
}
