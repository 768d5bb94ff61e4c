import { boolean, dictionary, integer, list, literal, optional, required, tool } from './checks.js';
import { integerText, readBoolean, readInteger } from './coercion.js';
import { bothSet, setsBoth } from './final-message.js';
import { type Check, type Handler, type Issue, validationRefusal, valueIssue } from './issue.js';
import { messagesCheck } from './message-schema.js';
import type { PythonDict } from './python-value.js';
import { badParameter, badRequest, type Refusal } from './refusal.js';
import { checkLogprobs, checkSampling } from './sampling.js';
import { readSamplingAsk, type SamplingAsk } from './sampling-ask.js';
import { samplingMembers } from './sampling-members.js';
import { readStreamOptions, type StreamOptions } from './stream-options.js';
import { callIssues } from './tool-call-schema.js';
import { checkTools, namedTool } from './tool-choice.js';
import type { VllmVersion } from './version.js';

export const chatHandler: Handler = {
  line: 34,
  name: 'create_chat_completion',
  route: 'POST /v1/chat/completions',
};

/** Ids of the model's embedding, padding included. */
export const embeddingSize = 151_936;

const efforts: Readonly<Record<VllmVersion, Check>> = {
  '0.16': literal('low', 'medium', 'high'),
  '0.32': literal('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
};
/** They may be absent, but not null. */
const switches = ['echo', 'add_generation_prompt', 'continue_final_message', 'add_special_tokens'];

function members(vllm: VllmVersion): Readonly<Record<string, Check>> {
  return {
    ...samplingMembers(vllm),
    logprobs: boolean,
    top_logprobs: integer,
    max_completion_tokens: integer,
    stream: boolean,
    tools: list(tool),
    chat_template_kwargs: dictionary,
    reasoning_effort: efforts[vllm],
  };
}

/** What a chat request asks for besides its messages. */
export interface ChatAsk extends StreamOptions, SamplingAsk {
  readonly maxTokens: number | null;
  readonly maxTokensText: string;
  readonly maxTokensField: string;
  readonly logprobs: boolean;
  readonly topLogprobs: number;
  readonly namedTool: string | null;
}

/** @throws Refusal in the server's words */
export function readChatRequest(request: PythonDict, vllm: VllmVersion): ChatAsk {
  if (setsBoth(request)) throw refuseBoth(request, vllm);
  const issues: Issue[] = [];
  required(request, messagesCheck)(request.get('messages'), ['body', 'messages'], issues);
  for (const [name, check] of Object.entries(members(vllm))) {
    optional(check)(request.get(name), ['body', name], issues);
  }
  for (const name of switches) {
    const value = request.get(name);
    if (value !== undefined) boolean(value, ['body', name], issues);
  }
  if (vllm === '0.32') issues.push(...callIssues(request.get('messages')));
  if (issues.length > 0) throw validationRefusal(issues, vllm, chatHandler);
  checkTools(request, vllm, chatHandler);
  checkTopLogprobs(request, vllm);
  const choices = readInteger(request.get('n')) ?? 1;
  checkSampling(request, choices, vllm);
  const completion = readInteger(request.get('max_completion_tokens'));
  return {
    ...readStreamOptions(request, vllm, chatHandler),
    maxTokens: completion ?? readInteger(request.get('max_tokens')) ?? null,
    maxTokensText: integerText(request.get('max_completion_tokens') ?? request.get('max_tokens')),
    maxTokensField: completion === undefined ? 'max_tokens' : 'max_completion_tokens',
    ...readSamplingAsk(request, choices),
    logprobs: readBoolean(request.get('logprobs')) ?? false,
    topLogprobs: readInteger(request.get('top_logprobs')) ?? 0,
    namedTool: namedTool(request),
  };
}

function refuseBoth(request: PythonDict, vllm: VllmVersion): Refusal {
  return vllm === '0.32'
    ? badRequest(bothSet)
    : validationRefusal([valueIssue(bothSet, request)], vllm, chatHandler);
}

function checkTopLogprobs(request: PythonDict, vllm: VllmVersion): void {
  const top = readInteger(request.get('top_logprobs'));
  if (top === undefined) return;
  const refuse = (message: string): never => {
    if (vllm === '0.32') throw badParameter(message, 'top_logprobs');
    throw validationRefusal([valueIssue(message, request)], vllm, chatHandler);
  };
  if (top < -1) refuse('`top_logprobs` must be a positive value or -1.');
  if (top !== 0 && readBoolean(request.get('logprobs')) !== true) {
    refuse('when using `top_logprobs`, `logprobs` must be set to true.');
  }
  checkLogprobs(top === -1 ? embeddingSize : top);
}
