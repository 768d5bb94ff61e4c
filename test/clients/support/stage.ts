import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProxy, type TestProxy } from '../../support/proxy.js';
import { simulator } from '../../support/simulator.js';
import { type Relay, startRelay } from './relay.js';

/** A real server in the simulator's place: `UPSTREAM=http://HOST:PORT`. What its model says is anything. */
export const REAL = process.env.UPSTREAM;

/** A server, and proxies before it. */
export interface Stage {
  readonly model: string;
  /** Tokens. */
  readonly contextLength: number;
  readonly relay: Relay;
  /** Lowers caps: into the context length; of a real server to a few tokens, so that it ends. */
  readonly clamping: TestProxy;
  /** Passes caps that fit. */
  readonly plain: TestProxy;
  /** Compresses what is longer than its window. */
  readonly compressing: TestProxy;
  close(): Promise<void>;
}

interface StageOptions {
  /** Of a simulated server, in tokens; default 4096. */
  readonly contextLength?: number;
  /** The compression window, in tokens; default 1000. */
  readonly window?: string;
}

export async function setStage({ contextLength = 4096, window = '1000' }: StageOptions = {}): Promise<Stage> {
  const simulated =
    REAL === undefined
      ? await simulator({ models: [{ id: 'tiny', maxModelLen: contextLength }] })
      : undefined;
  const server = REAL ?? simulated?.url ?? '';
  const relay = await startRelay(server);
  const data = mkdtempSync(join(tmpdir(), 'incontext-clients-'));
  const upstream = { upstream: relay.url, data };
  const short: Record<string, string> = REAL === undefined ? {} : { 'max-output-tokens': '8' };
  const proxies = await Promise.all([
    startProxy({ ...upstream, ...short }),
    startProxy(upstream),
    startProxy({ ...upstream, engine: 'compressor', 'compression-window-tokens': window }),
  ]);
  await Promise.all(proxies.map((proxy) => proxy.ready()));
  const [clamping, plain, compressing] = proxies as [TestProxy, TestProxy, TestProxy];
  const { id, max_model_len } = await firstModel(server);
  return {
    model: id,
    contextLength: max_model_len,
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

interface Model {
  readonly id: string;
  readonly max_model_len: number;
}

async function firstModel(server: string): Promise<Model> {
  const { data } = (await (await fetch(`${server}/v1/models`)).json()) as { data: readonly Model[] };
  const [first] = data;
  if (first === undefined) throw new Error('the server has no model');
  return first;
}

/** A message with what the simulator is to do; of a real server only the words remain. */
export function told(words: string, script: object): string {
  return REAL === undefined ? `${words}\n!sim ${JSON.stringify(script)}` : words;
}

/** What was logged of the exchanges so far. */
export function exchanges(proxy: TestProxy): Record<string, unknown>[] {
  return proxy.logged.filter(({ msg }) => msg === 'exchange');
}
