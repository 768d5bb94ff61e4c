import { afterEach, expect, test } from 'vitest';
import type { SimulatorOptions } from '../../src/simulator/options.js';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { callOf, contextFor, requestOf, vllm } from './support/contexts.js';

let server: TestSimulator | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const user = { role: 'user', content: 'What is the weather in Berlin?' };
const tools = [{ type: 'function', function: { name: 'get_weather', description: 'Get the weather.' } }];
const CHATS = {
  plain: { messages: [user] },
  tools: { messages: [user], tools },
  'hidden tools': { messages: [user], tools, tool_choice: 'none' },
  reasoning_content: {
    messages: [user, { role: 'assistant', content: 'Fine.', reasoning_content: 'I looked it up.' }],
  },
  'reasoning_effort low': { messages: [user], reasoning_effort: 'low' },
  'thinking asked for': { messages: [user], chat_template_kwargs: { enable_thinking: true } },
};

const FLAGS: readonly [SimulatorOptions][] = [
  [{}],
  [{ excludeToolsWhenToolChoiceNone: true }],
  [{ defaultChatTemplateKwargs: { enable_thinking: false } }],
  [{ enableScaleOut: true, excludeToolsWhenToolChoiceNone: true }],
];

for (const version of ['0.32', '0.16'] as const) {
  test.each(FLAGS)(
    `vLLM ${version} counts as it generates, whatever it was started with: %j`,
    async (flags) => {
      server = await simulator({ vllm: version, ...flags });
      const backend = vllm(contextFor(server.url), { examines: true });
      for (const [name, chat] of Object.entries(CHATS)) {
        const body = JSON.stringify({ ...chat, max_tokens: 1 });
        const count = await backend.count(requestOf(body), callOf({ configured: false }));
        const answer = await fetch(`${server.url}/v1/chat/completions`, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json' },
        });
        const { usage } = (await answer.json()) as { usage: { prompt_tokens: number } };
        expect([name, count.tokens, count.rough]).toEqual([name, usage.prompt_tokens, undefined]);
      }
    },
  );
}
