import { isDict, isList, type PythonDict, PythonNumber } from './python-value.js';
import { badParameter, badRequest } from './refusal.js';
import {
  boolean,
  type Check,
  float,
  type Handler,
  type Issue,
  integer,
  optional,
  readBoolean,
  readFloat,
  readInteger,
  required,
  validationRefusal,
} from './validation.js';
import type { VllmVersion } from './version.js';

export const chatHandler: Handler = {
  line: 34,
  name: 'create_chat_completion',
  route: 'POST /v1/chat/completions',
};

const anything: Check = () => {};

const sampling: Readonly<Record<string, Check>> = {
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
  truncate_prompt_tokens: integer,
};

/** What a chat request asks for besides its messages. */
export interface ChatAsk {
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
  readonly maxTokens: number | null;
  readonly maxTokensField: string;
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
  readonly namedTool: string | null;
}

/** @throws Refusal in the server's words */
export function readChatRequest(request: PythonDict, vllm: VllmVersion): ChatAsk {
  const issues: Issue[] = [];
  required(request, anything)(request.get('messages'), ['body', 'messages'], issues);
  for (const [name, check] of Object.entries(sampling))
    optional(check)(request.get(name), ['body', name], issues);
  if (issues.length > 0) throw validationRefusal(issues, vllm, chatHandler);
  checkTools(request, vllm);
  const choices = readInteger(request.get('n')) ?? 1;
  checkSampling(request, choices, vllm);
  const completion = readInteger(request.get('max_completion_tokens'));
  const options = request.get('stream_options');
  const streamOptions: PythonDict = isDict(options) ? options : new Map();
  return {
    stream: readBoolean(request.get('stream')) ?? false,
    includeUsage: readBoolean(streamOptions.get('include_usage')) ?? false,
    continuousUsage: readBoolean(streamOptions.get('continuous_usage_stats')) ?? false,
    maxTokens: completion ?? readInteger(request.get('max_tokens')) ?? null,
    maxTokensField: completion === undefined ? 'max_tokens' : 'max_completion_tokens',
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

/** A finding of a validator that looks at the whole request. */
export function valueIssue(message: string, request: PythonDict): Issue {
  return {
    type: 'value_error',
    place: ['body'],
    message: `Value error, ${message}`,
    input: request,
    context: `{'error': ValueError('${message}')}`,
  };
}

function checkSampling(request: PythonDict, choices: number, vllm: VllmVersion): void {
  const temperature = request.get('temperature') ?? null;
  const shown = temperature instanceof PythonNumber ? new PythonNumber('float', temperature.text).text : '';
  const value = readFloat(temperature);
  if (value !== undefined && Number.isNaN(value) && vllm === '0.32') {
    throw badParameter('temperature must be a finite number, got nan.', 'temperature', 'nan');
  }
  if (value !== undefined && value < 0) {
    throw badParameter(`temperature must be non-negative, got ${shown}.`, 'temperature', shown);
  }
  if (vllm === '0.32' && choices > 16_384) {
    throw badRequest(
      `n must be at most 16384, got ${choices}. To increase this limit, set the VLLM_MAX_N_SEQUENCES environment variable.`,
    );
  }
  if (choices < 1) throw badRequest(`n must be at least 1, got ${choices}.`);
  if (value === 0 && choices > 1 && request.get('use_beam_search') !== true) {
    throw badRequest(`n must be 1 when using greedy sampling, got ${choices}.`);
  }
}

function readStop(request: PythonDict): readonly string[] {
  const stop = request.get('stop');
  if (typeof stop === 'string') return [stop];
  return isList(stop) ? stop.filter((word): word is string => typeof word === 'string') : [];
}

function namedTool(request: PythonDict): string | null {
  const choice = request.get('tool_choice');
  const called = isDict(choice) ? choice.get('function') : undefined;
  const name = isDict(called) ? called.get('name') : undefined;
  return typeof name === 'string' ? name : null;
}
