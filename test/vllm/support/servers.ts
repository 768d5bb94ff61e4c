import { afterAll, beforeAll, describe } from 'vitest';
import type { SimulatorOptions } from '../../../src/simulator/options.js';
import type { VllmVersion } from '../../../src/simulator/version.js';
import { simulator, type TestSimulator } from '../../support/simulator.js';

/** How a server is started: as it comes; with a key and the options that change prompts; without an engine. */
export type Setup = 'plain' | 'flags' | 'render';

/** A vLLM, real or simulated. */
export interface Server {
  readonly version: VllmVersion;
  readonly setup: Setup;
  /** Known once the tests run. */
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly isReal: boolean;
}

interface RealServer {
  readonly version: string;
  readonly setup: Setup;
  readonly url: string;
  readonly apiKey?: string;
}

const given = process.env.INCONTEXT_TEST_VLLM;
const real = given === undefined ? undefined : (JSON.parse(given) as RealServer);

const PLAIN = { models: [{ id: 'tiny', maxModelLen: 4096 }], enablePromptTokensDetails: false };
const FLAGS = {
  models: [{ id: 'tiny', maxModelLen: 131_072, aliases: ['tiny-alias'] }],
  enablePromptTokensDetails: false,
  apiKey: 'sekret',
  enableScaleOut: true,
  trustRequestChatTemplate: true,
  excludeToolsWhenToolChoiceNone: true,
  defaultChatTemplateKwargs: { enable_thinking: false },
  reasoningParser: 'qwen3',
} as const;

/** The same as in `scripts/test-vllm.mjs`. The server without an engine counts as one with it does. */
const SIMULATED: Readonly<Record<Setup, SimulatorOptions>> = { plain: PLAIN, flags: FLAGS, render: PLAIN };
const VERSIONS: Readonly<Record<Setup, readonly VllmVersion[]>> = {
  plain: ['0.32', '0.16'],
  flags: ['0.32', '0.16'],
  render: ['0.32'],
};

/** Defines tests of each server of this set-up: the real one that `npm run test:vllm` started, or simulators. */
export function describeServers(
  setup: Setup,
  define: (server: Server) => void,
  simulated: SimulatorOptions = {},
): void {
  if (real !== undefined) {
    const { url, apiKey } = real;
    const version = real.version.startsWith('0.16') ? '0.16' : '0.32';
    describe(`vLLM ${real.version}`, () => define({ version, setup, url, apiKey, isReal: true }));
    return;
  }
  describe.each(VERSIONS[setup])('simulator of vLLM %s', (version) => {
    let running: TestSimulator;
    beforeAll(async () => {
      running = await simulator({ ...SIMULATED[setup], ...simulated, vllm: version });
    });
    afterAll(() => running.close());
    define({
      version,
      setup,
      apiKey: SIMULATED[setup].apiKey,
      isReal: false,
      get url() {
        return running.url;
      },
    });
  });
}

/** The headers of a client of this server. */
export function headersFor({ apiKey }: Server): Record<string, string> {
  const json = { 'content-type': 'application/json' };
  return apiKey === undefined ? json : { ...json, authorization: `Bearer ${apiKey}` };
}

export function postTo(server: Server, path: string, body: string | object): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(server.url + path, { method: 'POST', headers: headersFor(server), body: text });
}
