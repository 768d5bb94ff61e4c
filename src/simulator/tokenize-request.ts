import { boolean, dictionary, integer, list, optional, required, string, tool } from './checks.js';
import { bothSet, setsBoth } from './final-message.js';
import { Branch, type Check, type Handler, type Issue, type Place, validationRefusal } from './issue.js';
import { messagesCheck } from './message-schema.js';
import type { PythonDict } from './python-value.js';
import { badRequest } from './refusal.js';
import type { VllmVersion } from './version.js';

export const tokenizeHandler: Handler = { line: 38, name: 'tokenize', route: 'POST /tokenize' };
export const detokenizeHandler: Handler = { line: 38, name: 'detokenize', route: 'POST /detokenize' };

const body: Place = ['body', new Branch('function-wrap[__log_extra_fields__()]')];

const promptMembers: readonly (readonly [string, Check])[] = [
  ['model', optional(string)],
  ['add_special_tokens', boolean],
  ['return_token_strs', optional(boolean)],
];
const chatMembers: readonly (readonly [string, Check])[] = [
  ['model', optional(string)],
  ['add_generation_prompt', boolean],
  ['return_token_strs', optional(boolean)],
  ['continue_final_message', boolean],
  ['add_special_tokens', boolean],
  ['chat_template', optional(string)],
  ['tools', optional(list(tool))],
  ['chat_template_kwargs', optional(dictionary)],
];

/** Which of the two forms the request has; the chat wins. @throws Refusal for neither */
export function checkTokenizeRequest(request: PythonDict, vllm: VllmVersion): 'prompt' | 'chat' {
  const asPrompt: Issue[] = [];
  required(request, string)(request.get('prompt'), [...body, 'prompt'], asPrompt);
  checkMembers(request, promptMembers, asPrompt);
  const asChat: Issue[] = [];
  required(request, messagesCheck)(request.get('messages'), [...body, 'messages'], asChat);
  checkMembers(request, chatMembers, asChat);
  if (asChat.length === 0) checkContinuation(request, asPrompt, vllm);
  if (asChat.length === 0) return 'chat';
  if (asPrompt.length === 0) return 'prompt';
  throw validationRefusal([...asPrompt, ...asChat], vllm, tokenizeHandler);
}

function checkMembers(
  request: PythonDict,
  members: readonly (readonly [string, Check])[],
  issues: Issue[],
): void {
  for (const [name, check] of members) {
    const value = request.get(name);
    if (value !== undefined) check(value, [...body, name], issues);
  }
}

function checkContinuation(request: PythonDict, asPrompt: readonly Issue[], vllm: VllmVersion): void {
  if (!setsBoth(request)) return;
  if (vllm === '0.32') throw badRequest(bothSet);
  const issue: Issue = {
    type: 'value_error',
    place: body,
    message: `Value error, ${bothSet}`,
    input: request,
    context: `{'error': ValueError('${bothSet}')}`,
  };
  throw validationRefusal([...asPrompt, issue], vllm, tokenizeHandler);
}

/** @throws Refusal for anything but a list of ids */
export function checkDetokenizeRequest(request: PythonDict, vllm: VllmVersion): void {
  const issues: Issue[] = [];
  required(request, list(integer))(request.get('tokens'), ['body', 'tokens'], issues);
  if (issues.length > 0) throw validationRefusal(issues, vllm, detokenizeHandler);
}
