import { boolean, dictionary, float, integer, list, literal, optional, required, string } from './checks.js';
import { readBoolean } from './coercion.js';
import { type Check, type Handler, type Issue, validationRefusal } from './issue.js';
import { isDict, isList, type PythonDict } from './python-value.js';
import { badParameter, openAiRefusal } from './refusal.js';
import type { VllmVersion } from './version.js';

export const responsesHandler: Handler = {
  line: 47,
  name: 'create_responses',
  route: 'POST /v1/responses',
};

const textOrItems: Check = (value, place, issues) => {
  if (typeof value === 'string' || isList(value)) return;
  string(value, place, issues);
  list()(value, place, issues);
};

const members: readonly (readonly [string, Check])[] = [
  ['instructions', string],
  ['max_output_tokens', integer],
  ['metadata', dictionary],
  ['model', string],
  ['parallel_tool_calls', boolean],
  ['previous_response_id', string],
  ['reasoning', dictionary],
  ['service_tier', literal('auto', 'default', 'flex', 'scale', 'priority')],
  ['store', boolean],
  ['stream', boolean],
  ['temperature', float],
  ['text', dictionary],
  ['tools', list()],
  ['top_p', float],
  ['truncation', literal('auto', 'disabled')],
  ['user', string],
];

/** Looks at a Responses request. @throws Refusal in the server's words */
export function checkResponse(request: PythonDict, vllm: VllmVersion): void {
  const issues: Issue[] = [];
  required(asRead(request, vllm), textOrItems)(request.get('input'), ['body', 'input'], issues);
  for (const [name, check] of members) optional(check)(request.get(name), ['body', name], issues);
  if (issues.length > 0) throw validationRefusal(issues, vllm, responsesHandler);
  if (vllm === '0.32') checkToolChoice(request);
}

/** 0.32 has put a member of its own in by then. */
function asRead(request: PythonDict, vllm: VllmVersion): PythonDict {
  return vllm === '0.16' ? request : new Map([...request, ['tool_choice', 'none']]);
}

/** Nothing is stored: there is no earlier response to go on from. @throws Refusal */
export function refusePrevious(request: PythonDict): void {
  const id = request.get('previous_response_id');
  if (typeof id !== 'string') return;
  throw openAiRefusal({
    message: `Response with id '${id}' not found.`,
    type: 'invalid_request_error',
    param: 'response_id',
    code: 404,
  });
}

/** @throws Refusal for a prompt that leaves no token for an answer */
export function refuseFullPrompt(tokens: number, maxModelLen: number): void {
  if (tokens < maxModelLen) return;
  const message = `The engine prompt length ${tokens} exceeds the max_model_len ${maxModelLen}. Please reduce prompt.`;
  throw openAiRefusal({ message, type: 'invalid_request_error', param: 'input', code: 400 });
}

export function asksForStream(request: PythonDict): boolean {
  return readBoolean(request.get('stream')) ?? false;
}

function checkToolChoice(request: PythonDict): void {
  const choice = request.get('tool_choice') ?? 'auto';
  const given = request.get('tools');
  const tools = isList(given) ? given : [];
  if (choice === 'required' && tools.length === 0)
    throw badParameter("Tool choice 'required' must be specified with 'tools' parameter.", 'tool_choice');
  if (!isDict(choice) || choice.get('type') !== 'function') return;
  const name = choice.get('name');
  if (tools.some((tool) => isDict(tool) && tool.get('name') === name)) return;
  throw badParameter("Tool choice 'function' not found in 'tools' parameter.", 'tool_choice');
}
