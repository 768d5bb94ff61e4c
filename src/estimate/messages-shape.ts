import { type Fields, isRecord, listOf, systemMessage } from './shape.js';

/** A chat that says about what a request in Anthropic's form says. */
export function chatOfMessages({ system, messages, tools }: Fields): unknown {
  return { messages: [...systemMessage(partsOf(system)), ...listOf(messages).flatMap(messagesOf)], tools };
}

/** A result is a message of its own, as it is in a chat. */
function messagesOf(message: unknown): unknown[] {
  if (!isRecord(message) || !Array.isArray(message.content)) return [message];
  const results = message.content.filter(isResult);
  const said = message.content.filter((block) => !isResult(block));
  const calls = said.filter(isCall);
  const own = {
    role: message.role,
    content: partsOf(said.filter((block) => !isCall(block))),
    tool_calls: calls.map(({ name, input }) => ({ function: { name, arguments: input } })),
  };
  const answers = results.map(({ tool_use_id, content }) => ({
    role: 'tool',
    tool_call_id: tool_use_id,
    content: partsOf(content),
  }));
  return said.length === 0 ? answers : [own, ...answers];
}

function partsOf(content: unknown): unknown {
  return Array.isArray(content) ? content.flatMap(partOf) : content;
}

function partOf(block: unknown): unknown[] {
  if (!isRecord(block)) return [block];
  const { type } = block;
  if (type === 'thinking') return [{ type, text: block.thinking }];
  // What it says is for the server that wrote it alone.
  if (type === 'redacted_thinking') return [];
  if (type === 'document') return isRecord(block.source) ? documentOf(block.source) : [block];
  return [block];
}

function documentOf(source: Fields): unknown[] {
  return source.type === 'text' ? [{ type: 'text', text: source.data }] : [{ type: 'file' }];
}

function isResult(block: unknown): block is Fields {
  return isRecord(block) && block.type === 'tool_result';
}

function isCall(block: unknown): block is Fields {
  return isRecord(block) && block.type === 'tool_use';
}
