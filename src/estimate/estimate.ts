import { addJson } from './json-tokens.js';
import { addMessage } from './message-tokens.js';
import { TextTally } from './text-tokens.js';

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
 * estimateTokens({ messages: [{ role: 'user', content: 'hello' }] }); // 33
 */
export function estimateTokens(request: unknown): number {
  const tally = new TextTally();
  if (isObject(request)) addRequest(tally, request);
  else addJson(tally, request);
  return Math.max(1, Math.ceil(tally.tokens()));
}

function addRequest(tally: TextTally, request: Readonly<Record<string, unknown>>): void {
  const { messages, tools, functions, documents, chat_template_kwargs: kwargs } = request;
  tally.addTokens(PER_CONVERSATION);
  if (Array.isArray(messages)) for (const message of messages) addMessage(tally, message);
  else if (messages !== undefined) addJson(tally, messages);
  addToolList(tally, tools);
  addToolList(tally, functions);
  const given = documents ?? (isObject(kwargs) ? kwargs.documents : undefined);
  if (given !== undefined) addJson(tally, given);
}

function addToolList(tally: TextTally, tools: unknown): void {
  if (tools === undefined || tools === null) return;
  if (Array.isArray(tools)) {
    if (tools.length === 0) return;
    tally.addTokens(PER_TOOL_LIST + PER_TOOL * tools.length);
  }
  addJson(tally, tools);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
