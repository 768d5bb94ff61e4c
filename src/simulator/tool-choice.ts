import { type Handler, validationRefusal, valueIssue } from './issue.js';
import { isDict, isList, type PythonDict, type PythonValue, pythonRepr } from './python-value.js';
import { badParameter, type Refusal } from './refusal.js';
import type { VllmVersion } from './version.js';

/** Refuses tools and a choice of them that do not fit together. @throws Refusal */
export function checkTools(request: PythonDict, vllm: VllmVersion, handler: Handler): void {
  const tools = request.get('tools');
  const choice = request.get('tool_choice') ?? null;
  if (vllm === '0.32' && isList(tools) && tools.length === 0) {
    throw badParameter(
      '`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.',
      'tools',
    );
  }
  if (choice === null || choice === 'none') return;
  const refuse = (message: string): Refusal =>
    vllm === '0.32'
      ? badParameter(message, 'tool_choice')
      : validationRefusal([valueIssue(message, request)], vllm, handler);
  if (!isList(tools)) throw refuse('When using `tool_choice`, `tools` must be set.');
  if (choice === 'auto' || choice === 'required') return;
  if (!isDict(choice)) throw refuse(invalidChoice(choice));
  const wanted = namedTool(request);
  if (wanted === null) throw refuse(unnamedTool(choice));
  const names = tools.map((tool) => {
    const definition = isDict(tool) ? tool.get('function') : undefined;
    return isDict(definition) ? definition.get('name') : undefined;
  });
  if (names.includes(wanted)) return;
  throw refuse('The tool specified in `tool_choice` does not match any of the specified `tools`');
}

function invalidChoice(choice: PythonValue): string {
  const shown = typeof choice === 'string' ? choice : pythonRepr(choice);
  return `Invalid value for \`tool_choice\`: ${shown}! Only named tools, "none", "auto" or "required" are supported.`;
}

function unnamedTool(choice: PythonDict): string {
  const absent = isDict(choice.get('function')) ? '`name` in `function`' : '`function`';
  return `Expected field ${absent} in \`tool_choice\`. Correct usage: \`{"type": "function", "function": {"name": "my_function"}}\``;
}

/** The tool that `tool_choice` names. */
export function namedTool(request: PythonDict): string | null {
  const choice = request.get('tool_choice');
  const called = isDict(choice) ? choice.get('function') : undefined;
  const name = isDict(called) ? called.get('name') : undefined;
  return typeof name === 'string' ? name : null;
}
