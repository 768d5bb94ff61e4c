import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModel,
  RetryError,
  streamText,
  tool,
} from 'ai';
import type { Ask, Asking, Client, Look } from './support/client.js';
import { LOOK } from './support/client.js';
import { holdsForClient } from './support/promises.js';

function asking(model: (id: string) => LanguageModel, maxRetries: number): Asking {
  const body = ({ model: id, turns, cap, signal }: Ask) => ({
    model: model(id),
    messages: [...turns],
    maxOutputTokens: cap,
    maxRetries,
    abortSignal: signal,
  });
  const streamed = async (ask: Ask, more: object): Promise<string> => {
    let failure: unknown;
    const onError = ({ error }: { error: unknown }) => {
      failure = error;
    };
    let text = '';
    for await (const piece of streamText({ ...body(ask), ...more, onError }).textStream) {
      text += piece;
      ask.onText?.();
    }
    if (failure !== undefined) throw failure;
    return text;
  };
  return {
    ask: async (ask) => (await generateText(body(ask))).text,
    stream: (ask) => streamed(ask, {}),
    useTool: async (ask, look, streams) => {
      const withTools = { tools: { look: lookTool(look) }, stopWhen: isStepCount(4) };
      if (streams) return await streamed(ask, withTools);
      return (await generateText({ ...body(ask), ...withTools })).text;
    },
    failureOf: (error) => {
      const last = RetryError.isInstance(error) ? error.lastError : error;
      if (!APICallError.isInstance(last)) return { status: undefined, retryAfter: undefined };
      return { status: last.statusCode, retryAfter: last.responseHeaders?.['retry-after'] };
    },
  };
}

const lookTool = (look: Look) =>
  tool({
    description: LOOK.description,
    inputSchema: jsonSchema<{ at: string }>({ ...LOOK.schema, required: ['at'] }),
    execute: ({ at }) => look(at),
  });

const compatible: Client = {
  name: 'ai with @ai-sdk/openai-compatible',
  at: (proxyUrl, retries) =>
    asking(createOpenAICompatible({ name: 'proxy', baseURL: `${proxyUrl}/v1`, includeUsage: true }), retries),
};

const responses: Client = {
  name: 'ai with @ai-sdk/openai, responses',
  at: (proxyUrl, retries) => {
    const provider = createOpenAI({ baseURL: `${proxyUrl}/v1`, apiKey: 'none' });
    return asking((id) => provider.responses(id), retries);
  },
};

holdsForClient(compatible);
holdsForClient(responses);
