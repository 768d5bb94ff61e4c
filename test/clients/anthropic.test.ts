import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import type { Ask, Asking, Client } from './support/client.js';
import { LOOK } from './support/client.js';
import { openAiFailure } from './support/openai-failure.js';
import { holdsForClient } from './support/promises.js';
import { setStage } from './support/stage.js';

const tools: Anthropic.Tool[] = [
  { name: LOOK.name, description: LOOK.description, input_schema: { ...LOOK.schema, required: ['at'] } },
];

const client = (proxyUrl: string, maxRetries: number) =>
  new Anthropic({ baseURL: proxyUrl, apiKey: null, authToken: 'none', maxRetries });

const messages: Client = {
  name: '@anthropic-ai/sdk',
  at: (proxyUrl, maxRetries): Asking => {
    const { messages } = client(proxyUrl, maxRetries);
    const body = ({ model, turns, cap }: Ask) => ({
      model,
      messages: [...turns] as Anthropic.MessageParam[],
      max_tokens: cap,
      system: 'You are brief.',
    });
    return {
      // The client itself refuses to wait for a whole answer that it takes for a long one, unless it is told how long.
      ask: async (ask) => textOf(await messages.create(body(ask), { timeout: 60_000 })),
      stream: async (ask) => {
        const stream = messages.stream(body(ask), { signal: ask.signal });
        stream.on('text', () => ask.onText?.());
        return textOf(await stream.finalMessage());
      },
      useTool: async (ask, look, streams) => {
        const turns = body(ask).messages;
        for (;;) {
          const request = { ...body(ask), messages: turns, tools };
          const message = streams
            ? await messages.stream(request).finalMessage()
            : await messages.create(request, { timeout: 60_000 });
          const calls = message.content.filter((block) => block.type === 'tool_use');
          if (calls.length === 0) return textOf(message);
          turns.push(
            { role: 'assistant', content: message.content },
            {
              role: 'user',
              content: calls.map(({ id, input }) => ({
                type: 'tool_result' as const,
                tool_use_id: id,
                content: look((input as { at: unknown }).at),
              })),
            },
          );
        }
      },
      failureOf: openAiFailure,
    };
  },
};

function textOf(message: Anthropic.Message): string {
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

holdsForClient(messages);

test('@anthropic-ai/sdk counts through the proxy what the server counts', async () => {
  const stage = await setStage();
  try {
    const { messages } = client(stage.plain.url, 0);
    const asked = {
      model: stage.model,
      messages: [{ role: 'user', content: 'hello there' }],
      tools,
    } as const;
    const request = { ...asked, messages: [...asked.messages], system: 'You are brief.' };
    const { input_tokens } = await messages.countTokens(request);
    const { usage } = await messages.create({ ...request, max_tokens: 2 });
    const { input_tokens: fresh, cache_read_input_tokens: cached } = usage;
    expect(fresh + (cached ?? 0)).toBe(input_tokens);
  } finally {
    await stage.close();
  }
});
