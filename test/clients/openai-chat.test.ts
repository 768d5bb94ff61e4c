import OpenAI from 'openai';
import type { Ask, Asking, Client, Look } from './support/client.js';
import { LOOK } from './support/client.js';
import { openAiFailure } from './support/openai-failure.js';
import { holdsForClient } from './support/promises.js';

const tools: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: { name: LOOK.name, description: LOOK.description, parameters: LOOK.schema },
  },
];

const chat: Client = {
  name: 'openai, chat completions',
  at: (proxyUrl, maxRetries): Asking => {
    const client = new OpenAI({ baseURL: `${proxyUrl}/v1`, apiKey: 'none', maxRetries });
    const body = ({ model, turns, cap }: Ask) => ({
      model,
      messages: [...turns],
      max_completion_tokens: cap,
    });
    const complete = async (ask: Ask, messages: OpenAI.ChatCompletionMessageParam[], streams: boolean) => {
      const request = { ...body(ask), messages, tools };
      if (!streams) return (await client.chat.completions.create(request)).choices[0]?.message;
      return (await client.chat.completions.stream(request).finalChatCompletion()).choices[0]?.message;
    };
    return {
      ask: async (ask) => (await client.chat.completions.create(body(ask))).choices[0]?.message.content ?? '',
      stream: async (ask) => {
        const request = { ...body(ask), stream: true, stream_options: { include_usage: true } } as const;
        const stream = await client.chat.completions.create(request, { signal: ask.signal });
        let text = '';
        for await (const chunk of stream) {
          const piece = chunk.choices[0]?.delta.content ?? '';
          text += piece;
          if (piece !== '') ask.onText?.();
        }
        return text;
      },
      useTool: async (ask, look, streams) => {
        const messages: OpenAI.ChatCompletionMessageParam[] = [...ask.turns];
        for (;;) {
          const message = await complete(ask, messages, streams);
          if (message?.tool_calls === undefined) return message?.content ?? '';
          messages.push(message, ...message.tool_calls.map((call) => resultOf(call, look)));
        }
      },
      failureOf: openAiFailure,
    };
  },
};

function resultOf(
  call: OpenAI.ChatCompletionMessageToolCall,
  look: Look,
): OpenAI.ChatCompletionToolMessageParam {
  const { at } = JSON.parse(call.type === 'function' ? call.function.arguments : '{}');
  return { role: 'tool', tool_call_id: call.id, content: look(at) };
}

holdsForClient(chat);
