import { fromPlain, isDict, isList, type PythonDict, type PythonValue } from './python-value.js';
import { badRequest } from './refusal.js';
import { messagesOfItems } from './response-items.js';
import { toolEcho } from './response-tools.js';
import type { VllmVersion } from './version.js';

/** The chat request that stands for a Responses request. @throws Refusal for an item that is not understood */
export function chatOfResponse(request: PythonDict, vllm: VllmVersion): Map<string, PythonValue> {
  const chat = new Map<string, PythonValue>();
  const set = (name: string, value: PythonValue | undefined): void => {
    if (value !== undefined && value !== null) chat.set(name, value);
  };
  for (const name of ['model', 'temperature', 'top_p', 'top_k', 'seed', 'stop', 'cache_salt', 'stream'])
    set(name, request.get(name));
  set('max_tokens', request.get('max_output_tokens'));
  const messages = messagesOf(request);
  if (messages.length === 0 && vllm === '0.16') throw badRequest('list index out of range');
  set('messages', messages);
  const tools = toolsOf(request, vllm);
  if (tools.length > 0) {
    chat.set('tools', tools);
    set('tool_choice', toolChoice(request));
  }
  if (request.get('truncation') === 'auto') set('truncate_prompt_tokens', fromPlain(-1));
  if (vllm === '0.32') {
    set('chat_template_kwargs', request.get('chat_template_kwargs'));
    const reasoning = request.get('reasoning');
    if (isDict(reasoning)) set('reasoning_effort', reasoning.get('effort'));
  }
  return chat;
}

function messagesOf(request: PythonDict): PythonValue[] {
  const instructions = request.get('instructions');
  const first: PythonValue[] =
    typeof instructions === 'string' && instructions !== ''
      ? [fromPlain({ role: 'system', content: instructions })]
      : [];
  const input = request.get('input');
  if (typeof input === 'string') return [...first, fromPlain({ role: 'user', content: input })];
  return [...first, ...messagesOfItems(isList(input) ? input : [])];
}

/** 0.16 renders a tool as it writes it back, and none where none may be called. */
function toolsOf(request: PythonDict, vllm: VllmVersion): PythonValue[] {
  const tools = request.get('tools');
  if (!isList(tools) || (vllm === '0.16' && request.get('tool_choice') === 'none')) return [];
  return tools.flatMap((tool) => {
    if (!isDict(tool)) throw badRequest('a tool has to be an object');
    if (tool.get('type') !== 'function') return [];
    return [vllm === '0.16' ? oldTool(tool) : functionOf(tool)];
  });
}

function oldTool(tool: PythonDict): PythonValue {
  return new Map<string, PythonValue>([
    ['type', 'function'],
    ['function', toolEcho(tool, '0.16')],
  ]);
}

function functionOf(tool: PythonDict): PythonValue {
  const called = new Map<string, PythonValue>();
  for (const name of ['name', 'description', 'parameters', 'strict', 'defer_loading']) {
    const value = tool.get(name) ?? null;
    if (value !== null) called.set(name, value);
  }
  return new Map<string, PythonValue>([
    ['type', 'function'],
    ['function', called],
  ]);
}

function toolChoice(request: PythonDict): PythonValue {
  const choice = request.get('tool_choice') ?? 'auto';
  if (!isDict(choice)) return choice;
  return fromPlain({ type: 'function', function: { name: choice.get('name') } });
}
