import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadSettings } from '../config/load.js';
import { formatProblems } from '../config/problem.js';
import { createLog } from '../observe/log.js';
import { createProxy, type RunningProxy } from '../server/create-proxy.js';
import { startSimulator } from '../simulator/server.js';

/** What the demo's proxies are started with, in tokens. */
export const BUDGET = { contextLength: 8192, window: 6144, reserve: 1024, margin: 256 } as const;

/** A generation of vLLM that refuses what does not fit; from 0.32 on it only refuses a cap above the window. */
export const SIMULATED_VLLM = '0.16';

export const MODEL = 'simulated';

/** Nothing of the demo stays behind. */
const MEMORY = ':memory:';

/** The servers that a demo plays between. */
export interface Stage {
  readonly simulatorUrl: string;
  readonly proxyUrl: string;
  /** A second proxy, whose tokenizer does not answer. */
  readonly blindProxyUrl: string;
  close(): Promise<void>;
}

/**
 * Starts simulator and proxies on free ports.
 * @throws MissingPackageError without the simulator's packages, StoreError without SQLite's compiled part.
 */
export async function setStage(): Promise<Stage> {
  const simulator = await startSimulator({
    vllm: SIMULATED_VLLM,
    models: [{ id: MODEL, maxModelLen: BUDGET.contextLength }],
  });
  const nobody = `http://127.0.0.1:${await unusedPort()}/tokenize`;
  const proxies = await Promise.all([
    startProxy({ upstream: simulator.url }),
    startProxy({ upstream: simulator.url, 'tokenizer-url': nobody }),
  ]).catch(async (error: unknown) => {
    await simulator.close();
    throw error;
  });
  await Promise.all(proxies.map(untilReady));
  const [proxy, blind] = proxies;
  return {
    simulatorUrl: simulator.url,
    proxyUrl: proxy.url,
    blindProxyUrl: blind.url,
    close: async () => {
      await Promise.all(proxies.map((each) => each.close()));
      await simulator.close();
    },
  };
}

function startProxy(flags: Readonly<Record<string, string>>): Promise<RunningProxy> {
  const loaded = loadSettings({
    flags: {
      host: '127.0.0.1',
      port: '0',
      engine: 'compressor',
      data: MEMORY,
      'log-level': 'silent',
      'min-output-tokens': String(BUDGET.reserve),
      'fallback-margin-tokens': String(BUDGET.margin),
      ...flags,
    },
    // What the user's own proxy is set to is not what the demo shows.
    env: {},
    readFile: () => '',
    cwd: process.cwd(),
  });
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems));
  return createProxy({ settings: loaded.settings, log: createLog('silent') });
}

async function untilReady({ url }: RunningProxy): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/incontext/ready`);
    await answer.arrayBuffer();
    if (answer.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
