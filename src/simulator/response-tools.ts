import { isDict, isList, type PythonDict, type PythonValue, toPlain } from './python-value.js';
import type { VllmVersion } from './version.js';

/** A function as the server writes it back, every member of its own model. */
export function toolEcho(tool: PythonDict, vllm: VllmVersion): PythonDict {
  const of = (name: string): PythonValue => tool.get(name) ?? null;
  const type = of('type');
  if (type === 'web_search') {
    const absent = ['external_web_access', 'filters', 'search_context_size', 'user_location'];
    return new Map([['type', type], ...absent.map((name) => [name, of(name)] as const)]);
  }
  if (type !== 'function') return tool;
  return new Map<string, PythonValue>([
    ['name', of('name')],
    ['parameters', of('parameters')],
    ['strict', of('strict')],
    ['type', type],
    ['allowed_callers', of('allowed_callers')],
    [vllm === '0.16' ? 'async_' : 'async', null],
    ['defer_loading', of('defer_loading')],
    ['description', of('description')],
    ['output_schema', of('output_schema')],
  ]);
}

export function toolEchoes(request: PythonDict, vllm: VllmVersion): unknown[] {
  const tools = request.get('tools');
  return isList(tools) ? tools.filter(isDict).map((tool) => toPlain(toolEcho(tool, vllm))) : [];
}

/** The choice as it is written back; 0.32 says `none` where there is nothing to choose from. */
export function toolChoiceEcho(request: PythonDict, vllm: VllmVersion): unknown {
  const tools = request.get('tools');
  const hasTools = isList(tools) && tools.length > 0;
  const choice = request.get('tool_choice') ?? (vllm === '0.32' && !hasTools ? 'none' : 'auto');
  if (!isDict(choice)) return choice;
  return { name: toPlain(choice.get('name') ?? null), type: toPlain(choice.get('type') ?? null) };
}
