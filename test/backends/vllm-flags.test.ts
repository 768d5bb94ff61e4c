import { afterEach, expect, test } from 'vitest';
import type { SimulatorOptions } from '../../src/simulator/options.js';
import { simulator, type TestSimulator } from '../support/simulator.js';
import { callOf, contextFor, requestOf, vllm } from './support/contexts.js';
import { gateway } from './support/gateway.js';

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

const THINKING_OFF = { defaultChatTemplateKwargs: { enable_thinking: false } };
const RENDER = '/v1/chat/completions/render';
const COUNT_TOKENS = '/v1/messages/count_tokens';

/** Each chat, as it was counted and as it was generated. */
async function compared(
  url: string,
): Promise<{ name: string; counted: number; rough: boolean; usage: number }[]> {
  const backend = vllm(contextFor(url), { examines: true });
  const rows = [];
  for (const [name, chat] of Object.entries(CHATS)) {
    const body = JSON.stringify({ ...chat, max_tokens: 1 });
    const { tokens, rough = false } = await backend.count(requestOf(body), callOf({ configured: false }));
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    const { usage } = (await answer.json()) as { usage: { prompt_tokens: number } };
    rows.push({ name, counted: tokens, rough, usage: usage.prompt_tokens });
  }
  return rows;
}

for (const version of ['0.32', '0.16'] as const) {
  test.each(FLAGS)(
    `vLLM ${version} counts as it generates, whatever it was started with: %j`,
    async (flags) => {
      server = await simulator({ vllm: version, ...flags });
      const rows = await compared(server.url);
      expect(rows).toEqual(rows.map((row) => ({ ...row, counted: row.usage, rough: false })));
    },
  );

  const hidden = { '/version': 404 };
  test.each([
    ['all of itself', { ...hidden, [RENDER]: 404, [COUNT_TOKENS]: 404 }, true],
    ['its samples with 500', { ...hidden, [RENDER]: 500 }, true],
    ['its samples with 401', { ...hidden, [RENDER]: 401 }, true],
    ['its version', hidden, false],
  ])(
    `vLLM ${version} behind a gateway that hides %s is never exact and wrong`,
    async (_what, statuses, isPlainRough) => {
      for (const flags of [{}, THINKING_OFF]) {
        server = await simulator({ vllm: version, ...flags });
        const rows = await compared(await gateway(server.url, statuses));
        expect(rows.filter(({ rough, counted, usage }) => !rough && counted !== usage)).toEqual([]);
        expect(rows.find(({ name }) => name === 'plain')).toMatchObject({ rough: isPlainRough });
        await server.close();
      }
    },
  );
}
