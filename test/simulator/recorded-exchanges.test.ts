import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SimulatorOptions } from '../../src/simulator/options.js';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { comparable, recordedAnswer, recordedExchanges, replay } from './recorded.js';

const recordedServers: Readonly<Record<string, SimulatorOptions>> = {
  'v0.32': { vllm: '0.32', models: [{ id: 'tiny', maxModelLen: 4096 }] },
  'v0.32-s2': {
    vllm: '0.32',
    models: [{ id: 'tiny', maxModelLen: 131_072, aliases: ['tiny-alias'] }],
    apiKey: 'sekret',
    enableScaleOut: true,
    trustRequestChatTemplate: true,
    excludeToolsWhenToolChoiceNone: true,
    defaultChatTemplateKwargs: { enable_thinking: false },
    reasoningParser: 'qwen3',
  },
  'v0.16': { vllm: '0.16', models: [{ id: 'tiny', maxModelLen: 4096 }] },
};

describe.each(Object.entries(recordedServers))('answers as the real server did: set %s', (set, options) => {
  let server: TestSimulator;
  let guarded: TestSimulator;

  beforeAll(async () => {
    server = await simulator({ ...options, enablePromptTokensDetails: false });
    guarded = await simulator({ ...options, enablePromptTokensDetails: false, apiKey: 'sekret' });
  });
  afterAll(() => Promise.all([server.close(), guarded.close()]));

  test.each(recordedExchanges(set).map((exchange) => [exchange.name, exchange] as const))(
    '%s',
    async (name, exchange) => {
      const { url } = name.startsWith('auth-') ? guarded : server;
      expect(comparable(await replay(exchange, url))).toEqual(comparable(recordedAnswer(exchange)));
    },
  );
});
