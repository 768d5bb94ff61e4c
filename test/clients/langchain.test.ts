import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import type { Ask, Asking, Client } from './support/client.js';
import { LOOK } from './support/client.js';
import { openAiFailure } from './support/openai-failure.js';
import { holdsForClient } from './support/promises.js';

const tools = [
  {
    type: 'function' as const,
    function: { name: LOOK.name, description: LOOK.description, parameters: LOOK.schema },
  },
];

function asking(proxyUrl: string, maxRetries: number, useResponsesApi: boolean): Asking {
  const model = ({ model, cap }: Ask) =>
    new ChatOpenAI({
      model,
      maxTokens: cap,
      maxRetries,
      useResponsesApi,
      apiKey: 'none',
      configuration: { baseURL: `${proxyUrl}/v1` },
    });
  return {
    ask: async (ask) => (await model(ask).invoke(messagesOf(ask))).text,
    stream: async (ask) => {
      let text = '';
      for await (const chunk of await model(ask).stream(messagesOf(ask), { signal: ask.signal })) {
        text += chunk.text;
        if (chunk.text !== '') ask.onText?.();
      }
      return text;
    },
    useTool: async (ask, look, streams) => {
      const bound = model(ask).bindTools(tools);
      const messages = messagesOf(ask);
      for (;;) {
        const message = streams ? await gathered(await bound.stream(messages)) : await bound.invoke(messages);
        const calls = message.tool_calls ?? [];
        if (calls.length === 0) return message.text;
        messages.push(
          message,
          ...calls.map(({ id, args }) => new ToolMessage({ tool_call_id: id ?? '', content: look(args.at) })),
        );
      }
    },
    failureOf: openAiFailure,
  };
}

type Chunk = Awaited<ReturnType<ChatOpenAI['stream']>> extends AsyncIterable<infer Item> ? Item : never;

async function gathered(stream: AsyncIterable<Chunk>): Promise<Chunk> {
  let whole: Chunk | undefined;
  for await (const chunk of stream) whole = whole === undefined ? chunk : whole.concat(chunk);
  if (whole === undefined) throw new Error('nothing was streamed');
  return whole;
}

function messagesOf({ turns }: Ask): BaseMessage[] {
  return turns.map(({ role, content }) =>
    role === 'user' ? new HumanMessage(content) : new AIMessage(content),
  );
}

const chat: Client = {
  name: '@langchain/openai, chat completions',
  at: (proxyUrl, retries) => asking(proxyUrl, retries, false),
};

const responses: Client = {
  name: '@langchain/openai, responses',
  at: (proxyUrl, retries) => asking(proxyUrl, retries, true),
};

holdsForClient(chat);
holdsForClient(responses);
