import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SimulatorOptions } from '../../src/simulator/options.js';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { comparable, recordedAnswer, recordedExchanges, replay } from './recorded.js';

const models = [{ id: 'tiny', maxModelLen: 4096 }];
const recordedServers: Readonly<Record<string, SimulatorOptions>> = {
  'v0.32-endpoints': { vllm: '0.32', models, reasoningParser: 'qwen3' },
  'v0.32-clients': { vllm: '0.32', models },
  'v0.16-clients': { vllm: '0.16', models },
};

/** What these say depends on the words of the real model: a call that it never finished, a stop string in a word. */
const unlike = new Set([
  'resp-stream-tool-required-cut',
  'anth-stop',
  'resp-no-cap-defaults',
  'resp-tool-named',
  'resp-tool-required',
  'anth-tool-named',
  'anth-tool-any',
]);

describe.each(Object.entries(recordedServers))(
  'answers Responses and Messages as the real server did: set %s',
  (set, options) => {
    let server: TestSimulator;

    beforeAll(async () => {
      server = await simulator({ ...options, enablePromptTokensDetails: false });
    });
    afterAll(() => server.close());

    const exchanges = recordedExchanges(set).filter(
      ({ name, request }) => /^POST \/v1\/(responses|messages)/.test(request.head) && !unlike.has(name),
    );

    test.each(exchanges.map((exchange) => [exchange.name, exchange] as const))(
      '%s',
      async (_name, exchange) => {
        expect(comparable(await replay(exchange, server.url))).toEqual(comparable(recordedAnswer(exchange)));
      },
    );
  },
);
