import { jsonTokens } from './json-tokens.js';
import { messageTokens } from './message-tokens.js';

/** What a template puts around the messages: the start, a default system prompt, the generation prompt. */
const PER_CONVERSATION = 24;
/** What a template says about the use of tools, and around each of them. */
const PER_TOOL_LIST = 160;
const PER_TOOL = 12;

/**
 * The prompt tokens of a chat request, about: what a chat template would render of it (messages, tool calls,
 * tools, documents), at least 1. Takes a parsed JSON value of any shape and never throws; linear in its size.
 *
 * @example
 * estimateTokens({ messages: [{ role: 'user', content: 'hello' }] }); // 31
 */
export function estimateTokens(request: unknown): number {
  if (!isObject(request)) return wholeTokens(jsonTokens(request));
  const { messages, chat_template_kwargs: kwargs } = request;
  const documents = request.documents ?? (isObject(kwargs) ? kwargs.documents : undefined);
  const tokens =
    PER_CONVERSATION +
    conversationTokens(messages) +
    toolListTokens(request.tools) +
    toolListTokens(request.functions) +
    (documents === undefined ? 0 : jsonTokens(documents));
  return wholeTokens(tokens);
}

function conversationTokens(messages: unknown): number {
  if (!Array.isArray(messages)) return messages === undefined ? 0 : jsonTokens(messages);
  let tokens = 0;
  for (const message of messages) tokens += messageTokens(message);
  return tokens;
}

function toolListTokens(tools: unknown): number {
  if (tools === undefined || tools === null) return 0;
  if (!Array.isArray(tools)) return jsonTokens(tools);
  return tools.length === 0 ? 0 : PER_TOOL_LIST + PER_TOOL * tools.length + jsonTokens(tools);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wholeTokens(tokens: number): number {
  return Math.max(1, Math.ceil(tokens));
}
