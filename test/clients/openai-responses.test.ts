import OpenAI from 'openai';
import type { Ask, Asking, Client } from './support/client.js';
import { LOOK } from './support/client.js';
import { openAiFailure } from './support/openai-failure.js';
import { holdsForClient } from './support/promises.js';

const tools: OpenAI.Responses.FunctionTool[] = [
  {
    type: 'function',
    name: LOOK.name,
    description: LOOK.description,
    parameters: LOOK.schema,
    strict: false,
  },
];

const responses: Client = {
  name: 'openai, responses',
  at: (proxyUrl, maxRetries): Asking => {
    const client = new OpenAI({ baseURL: `${proxyUrl}/v1`, apiKey: 'none', maxRetries });
    const body = ({ model, turns, cap }: Ask) => ({ model, input: [...turns], max_output_tokens: cap });
    const respond = async (ask: Ask, input: OpenAI.Responses.ResponseInput, streams: boolean) => {
      const request = { ...body(ask), input, tools };
      if (!streams) return await client.responses.create(request);
      return await client.responses.stream(request).finalResponse();
    };
    return {
      ask: async (ask) => (await client.responses.create(body(ask))).output_text,
      stream: async (ask) => {
        const stream = await client.responses.create({ ...body(ask), stream: true }, { signal: ask.signal });
        let text = '';
        for await (const event of stream) {
          if (event.type !== 'response.output_text.delta') continue;
          text += event.delta;
          ask.onText?.();
        }
        return text;
      },
      useTool: async (ask, look, streams) => {
        const input: OpenAI.Responses.ResponseInput = [...ask.turns];
        for (;;) {
          const { output, output_text } = await respond(ask, input, streams);
          const items: readonly OpenAI.Responses.ResponseOutputItem[] = output;
          const calls = items.filter(isCall);
          if (calls.length === 0) return output_text;
          input.push(
            ...calls,
            ...calls.map(({ call_id, arguments: text }) => ({
              type: 'function_call_output' as const,
              call_id,
              output: look(JSON.parse(text).at),
            })),
          );
        }
      },
      failureOf: openAiFailure,
    };
  },
};

function isCall(
  item: OpenAI.Responses.ResponseOutputItem,
): item is OpenAI.Responses.ResponseFunctionToolCall {
  return item.type === 'function_call';
}

holdsForClient(responses);
