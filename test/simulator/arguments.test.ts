import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  SIMULATE_HELP,
  SimulatorUsageError,
  simulatorOptionsFromArgs,
} from '../../src/simulator/arguments.js';

test('without flags it is one model of 8192 tokens on port 8000', () => {
  expect(simulatorOptionsFromArgs([])).toMatchObject({
    host: '127.0.0.1',
    port: 8000,
    vllm: '0.32',
    models: [{ id: 'simulated', maxModelLen: 8192 }],
  });
});

test('reads every flag', () => {
  const [cert, key] = ['own-cert.pem', 'own-key.pem'].map((name) =>
    fileURLToPath(new URL(`../upstream/fixtures/${name}`, import.meta.url)),
  );
  const args = `--host 0.0.0.0 --port 0 --vllm 0.16 --model a=100 --model org/b --max-model-len 200 --api-key k --chunk-delay-ms 5 --tokenize-delay-ms 7 --tls-cert ${cert} --tls-key ${key} --enable-scale-out --trust-request-chat-template --exclude-tools-when-tool-choice-none --default-chat-template-kwargs {"enable_thinking":false} --reasoning-parser qwen3 --served-model-name alias --no-enable-auto-tool-choice --no-enable-prompt-tokens-details`;
  expect(simulatorOptionsFromArgs(args.split(' '))).toEqual({
    host: '0.0.0.0',
    port: 0,
    vllm: '0.16',
    models: [
      { id: 'a', maxModelLen: 100, aliases: ['alias'] },
      { id: 'org/b', maxModelLen: 200 },
    ],
    apiKey: 'k',
    chunkDelayMs: 5,
    tokenizeDelayMs: 7,
    tls: { cert: expect.stringContaining('BEGIN CERT'), key: expect.stringContaining('PRIVATE KEY') },
    enableScaleOut: true,
    trustRequestChatTemplate: true,
    excludeToolsWhenToolChoiceNone: true,
    defaultChatTemplateKwargs: { enable_thinking: false },
    reasoningParser: 'qwen3',
    enableAutoToolChoice: false,
    enablePromptTokensDetails: false,
  });
});

test.each([
  [['--vllm', '0.9'], '--vllm: 0.9 is none of 0.16, 0.32'],
  [['--port', 'x'], '--port: x is no whole number from 0 to 65535'],
  [['--model', 'a=0'], '--model a: 0 is no whole number of at least 1'],
  [['--model', '=5'], '--model: =5 has no name; write NAME or NAME=LENGTH'],
  [['--model', 'a', '--model', 'a=5'], '--model: a name is given twice'],
  [['--default-chat-template-kwargs', '[1]'], '--default-chat-template-kwargs: [1] is no JSON object'],
  [['--chunk-delay-ms', '2147483648'], '--chunk-delay-ms: 2147483648 is no whole number'],
  [['--tokenize-delay-ms', '1e3'], '--tokenize-delay-ms: 1e3 is no whole number from 0 to 2147483647'],
  [['--tls-cert', 'a'], '--tls-cert and --tls-key belong together'],
  [['--tls-cert', '/nowhere', '--tls-key', '/nowhere'], '--tls-cert: ENOENT'],
  [['--nonsense'], '--nonsense'],
  [['stray'], 'stray'],
])('%j is refused with a reason', (args, reason) => {
  expect(() => simulatorOptionsFromArgs(args)).toThrow(SimulatorUsageError);
  expect(() => simulatorOptionsFromArgs(args)).toThrow(reason);
});

test('the help names every flag it takes', () => {
  for (const flag of [
    '--model',
    '--max-model-len',
    '--api-key',
    '--chunk-delay-ms',
    '--reasoning-parser',
    '!sim',
  ]) {
    expect(SIMULATE_HELP).toContain(flag);
  }
});
