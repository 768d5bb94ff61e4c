import {
  fromPlain,
  isDict,
  isList,
  jsonText,
  type PythonDict,
  type PythonValue,
  pythonRepr,
} from './python-value.js';
import type { VllmVersion } from './version.js';

/** The chat request that stands for one in the form of Anthropic, without its tools. */
export function chatOfMessages(request: PythonDict, vllm: VllmVersion): Map<string, PythonValue> {
  const chat = new Map<string, PythonValue>();
  const copy = (to: string, from = to): void => {
    const value = request.get(from) ?? null;
    if (value !== null) chat.set(to, value);
  };
  copy('model');
  copy('max_tokens');
  copy('max_completion_tokens', 'max_tokens');
  copy('stop', 'stop_sequences');
  for (const name of ['temperature', 'top_p', 'top_k']) copy(name);
  const isOld = vllm === '0.16';
  for (const name of isOld ? [] : ['cache_salt', 'chat_template_kwargs']) copy(name);
  if (request.get('stream') === true) {
    chat.set('stream', true);
    chat.set('stream_options', fromPlain({ include_usage: true, continuous_usage_stats: true }));
  }
  const effort = isOld ? null : effortOf(request);
  if (effort !== null) chat.set('reasoning_effort', effort);
  chat.set('messages', messagesOf(request, isOld));
  return chat;
}

/** The tools as a chat has them; null without any. */
export function chatTools(request: PythonDict, vllm: VllmVersion): PythonValue {
  const tools = request.get('tools');
  if (!isList(tools) || tools.length === 0) return null;
  return tools.filter(isDict).map((tool) => {
    const called = new Map<string, PythonValue>();
    for (const [to, value] of [
      ['name', tool.get('name')],
      ['description', tool.get('description')],
      ['parameters', schemaOf(tool.get('input_schema'))],
      ...(vllm === '0.16'
        ? []
        : ([
            ['strict', tool.get('strict')],
            ['defer_loading', tool.get('defer_loading')],
          ] as const)),
    ] as const) {
      if (value !== undefined && value !== null) called.set(to, value);
    }
    return new Map<string, PythonValue>([
      ['type', 'function'],
      ['function', called],
    ]);
  });
}

function schemaOf(schema: PythonValue | undefined): PythonValue {
  if (!isDict(schema)) return schema ?? null;
  return schema.has('type') ? schema : new Map([...schema, ['type', 'object']]);
}

/** The choice of a tool as a chat has it; null for none. */
export function chatToolChoice(request: PythonDict): PythonValue {
  const choice = request.get('tool_choice');
  if (!isDict(choice)) return null;
  const type = choice.get('type');
  if (type === 'any') return 'required';
  if (type === 'tool') return fromPlain({ type: 'function', function: { name: choice.get('name') } });
  return type ?? null;
}

function effortOf(request: PythonDict): PythonValue {
  const thinking = request.get('thinking');
  if (isDict(thinking) && thinking.get('type') === 'disabled') return 'none';
  const config = request.get('output_config');
  return isDict(config) ? (config.get('effort') ?? null) : null;
}

function messagesOf(request: PythonDict, isOld: boolean): PythonValue[] {
  const system = systemText(request.get('system'), isOld);
  const chat: PythonValue[] = system === '' ? [] : [entry(['role', 'system'], ['content', system])];
  const messages = request.get('messages');
  for (const message of isList(messages) ? messages.filter(isDict) : []) {
    chat.push(...(message.get('role') === 'system' ? systemMessage(message) : spoken(message, isOld)));
  }
  return chat;
}

function systemText(system: PythonValue | undefined, isOld: boolean): string {
  if (typeof system === 'string') return system;
  const texts = blocksOf(system).map((block) => textOf(block));
  return texts.filter((text) => isOld || !isBilling(text)).join('');
}

/** Claude Code's line with a hash of its own for every request is never rendered. */
function isBilling(text: string): boolean {
  return text.startsWith('x-anthropic-billing-header');
}

function systemMessage(message: PythonDict): PythonValue[] {
  const content = message.get('content');
  const text = typeof content === 'string' && isBilling(content) ? '' : systemText(content, false);
  return text === '' ? [] : [entry(['role', 'system'], ['content', text])];
}

function spoken(message: PythonDict, isOld: boolean): PythonValue[] {
  const role = message.get('role') ?? null;
  const content = message.get('content') ?? null;
  if (typeof content === 'string') return [entry(['role', role], ['content', content])];
  const blocks = blocksOf(content);
  const of = (type: string): PythonDict[] => blocks.filter((block) => block.get('type') === type);
  const results = role === 'user' ? of('tool_result').map((block) => toolResult(block, isOld)) : [];
  const parts = blocks.flatMap(partOf);
  const calls = of('tool_use').map(callOf);
  const thoughts = isOld ? [] : of('thinking').map((block) => block.get('thinking') ?? '');
  const said = new Map<string, PythonValue>([['role', role]]);
  if (thoughts.length > 0) said.set('reasoning', thoughts.join(''));
  if (calls.length > 0) said.set('tool_calls', calls);
  const [only] = parts;
  if (parts.length === 1 && isDict(only) && only.get('type') === 'text')
    said.set('content', only.get('text') ?? '');
  else if (parts.length > 0) said.set('content', parts);
  const isNothing = parts.length === 0 && (isOld ? calls.length === 0 : role === 'user');
  return isNothing ? results : [...results, said];
}

function partOf(block: PythonDict): PythonValue[] {
  if (block.get('type') === 'text' && textOf(block) !== '')
    return [entry(['type', 'text'], ['text', textOf(block)])];
  return block.get('type') === 'image' ? [fromPlain({ type: 'image_url', image_url: { url: '' } })] : [];
}

function callOf(block: PythonDict): PythonValue {
  const called = entry(
    ['name', block.get('name') ?? ''],
    ['arguments', jsonText(block.get('input') ?? new Map())],
  );
  return entry(['id', block.get('id') ?? ''], ['type', 'function'], ['function', called]);
}

function toolResult(block: PythonDict, isOld: boolean): PythonValue {
  const content = block.get('content') ?? '';
  const texts = blocksOf(content).map((part) => textOf(part));
  const printed = typeof content === 'string' ? content : isOld ? pythonRepr(content) : texts.join('\n');
  const id = block.get(isOld ? 'id' : 'tool_use_id') ?? '';
  return entry(['role', 'tool'], ['tool_call_id', id], ['content', printed]);
}

function blocksOf(content: PythonValue | undefined): PythonDict[] {
  return isList(content) ? content.filter(isDict) : [];
}

function textOf(block: PythonDict): string {
  const text = block.get('text');
  return typeof text === 'string' ? text : '';
}

function entry(...members: readonly (readonly [string, PythonValue])[]): PythonDict {
  return new Map(members);
}
