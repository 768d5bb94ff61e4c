import { boolean, float, integer, list, literal, optional, required, tool } from './checks.js';
import { readBoolean, readInteger } from './coercion.js';
import { type Check, type Handler, type Issue, validationRefusal, valueIssue } from './issue.js';
import { messagesCheck } from './message-schema.js';
import { isDict, isList, type PythonDict } from './python-value.js';
import { badParameter } from './refusal.js';
import { checkSampling, readSalt, readStop } from './sampling.js';
import { readStreamOptions, type StreamOptions } from './stream-options.js';
import type { VllmVersion } from './version.js';

export const chatHandler: Handler = {
  line: 34,
  name: 'create_chat_completion',
  route: 'POST /v1/chat/completions',
};

const oldEffort = literal('low', 'medium', 'high');

const members: Readonly<Record<string, Check>> = {
  frequency_penalty: float,
  logprobs: boolean,
  top_logprobs: integer,
  max_tokens: integer,
  max_completion_tokens: integer,
  n: integer,
  presence_penalty: float,
  seed: integer,
  stream: boolean,
  temperature: float,
  top_p: float,
  top_k: integer,
  min_p: float,
  min_tokens: integer,
  tools: list(tool),
  truncate_prompt_tokens: integer,
};

/** What a chat request asks for besides its messages. */
export interface ChatAsk extends StreamOptions {
  readonly maxTokens: number | null;
  readonly maxTokensField: string;
  readonly minTokens: number;
  readonly choices: number;
  readonly stop: readonly string[];
  readonly keepStop: boolean;
  readonly logprobs: boolean;
  readonly topLogprobs: number;
  readonly returnTokenIds: boolean;
  readonly echo: boolean;
  readonly seed: number | null;
  readonly truncatePromptTokens: number | null;
  readonly truncateFrom: 'left' | 'right';
  /** Prompts under different salts share no prefix. */
  readonly cacheSalt: string;
  readonly namedTool: string | null;
}

/** @throws Refusal in the server's words */
export function readChatRequest(request: PythonDict, vllm: VllmVersion): ChatAsk {
  const issues: Issue[] = [];
  required(request, messagesCheck)(request.get('messages'), ['body', 'messages'], issues);
  for (const [name, check] of Object.entries(members)) {
    optional(check)(request.get(name), ['body', name], issues);
  }
  if (vllm === '0.16')
    optional(oldEffort)(request.get('reasoning_effort'), ['body', 'reasoning_effort'], issues);
  if (issues.length > 0) throw validationRefusal(issues, vllm, chatHandler);
  checkTools(request, vllm);
  const choices = readInteger(request.get('n')) ?? 1;
  checkSampling(request, choices, vllm);
  const completion = readInteger(request.get('max_completion_tokens'));
  return {
    ...readStreamOptions(request, vllm, chatHandler),
    maxTokens: completion ?? readInteger(request.get('max_tokens')) ?? null,
    maxTokensField: completion === undefined ? 'max_tokens' : 'max_completion_tokens',
    minTokens: readInteger(request.get('min_tokens')) ?? 0,
    choices,
    stop: readStop(request),
    keepStop: readBoolean(request.get('include_stop_str_in_output')) ?? false,
    logprobs: readBoolean(request.get('logprobs')) ?? false,
    topLogprobs: readInteger(request.get('top_logprobs')) ?? 0,
    returnTokenIds: readBoolean(request.get('return_token_ids')) ?? false,
    echo: readBoolean(request.get('echo')) ?? false,
    seed: readInteger(request.get('seed')) ?? null,
    truncatePromptTokens: readInteger(request.get('truncate_prompt_tokens')) ?? null,
    truncateFrom: request.get('truncation_side') === 'right' ? 'right' : 'left',
    cacheSalt: readSalt(request),
    namedTool: namedTool(request),
  };
}

function checkTools(request: PythonDict, vllm: VllmVersion): void {
  const tools = request.get('tools');
  const choice = request.get('tool_choice') ?? null;
  if (vllm === '0.32' && isList(tools) && tools.length === 0) {
    throw badParameter(
      '`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.',
      'tools',
    );
  }
  if (choice === null || choice === 'none') return;
  if (!isList(tools)) refuseTools('When using `tool_choice`, `tools` must be set.', request, vllm);
  const wanted = namedTool(request);
  if (wanted === null || !isList(tools)) return;
  const names = tools.map((tool) => {
    const definition = isDict(tool) ? tool.get('function') : undefined;
    return isDict(definition) ? definition.get('name') : undefined;
  });
  if (names.includes(wanted)) return;
  refuseTools(
    'The tool specified in `tool_choice` does not match any of the specified `tools`',
    request,
    vllm,
  );
}

function refuseTools(message: string, request: PythonDict, vllm: VllmVersion): never {
  if (vllm === '0.32') throw badParameter(message, 'tool_choice');
  throw validationRefusal([valueIssue(message, request)], vllm, chatHandler);
}

function namedTool(request: PythonDict): string | null {
  const choice = request.get('tool_choice');
  const called = isDict(choice) ? choice.get('function') : undefined;
  const name = isDict(called) ? called.get('name') : undefined;
  return typeof name === 'string' ? name : null;
}
