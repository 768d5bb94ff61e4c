import { parsePythonJson } from './python-json.js';
import { isDict, isList, type PythonDict } from './python-value.js';
import type { Script, ScriptedCall } from './script-schema.js';

const CALL = /<tool_call>\s*(\{[\s\S]*?\})\s*<\/tool_call>/g;
const ARGUMENTS = /"arguments"\s*:\s*([\s\S]*)\}$/;

/**
 * The only answer that the request's `structured_outputs` allow: a regular expression of plain text, or one
 * choice. Calls of offered tools in it are read as `--tool-call-parser hermes` does. `undefined`: no such answer.
 */
export function grammarAnswer(request: PythonDict): Script | undefined {
  const text = onlyText(request);
  if (text === undefined) return undefined;
  const calls = offersTools(request) ? callsIn(text) : [];
  if (calls.length === 0) return { text };
  const said = text.slice(0, text.indexOf('<tool_call>'));
  return { ...(said === '' ? {} : { text: said }), tool_calls: calls };
}

function onlyText(request: PythonDict): string | undefined {
  const outputs = request.get('structured_outputs');
  if (!isDict(outputs)) return undefined;
  const choice = outputs.get('choice');
  if (isList(choice) && choice.length === 1 && typeof choice[0] === 'string') return choice[0];
  const regex = outputs.get('regex');
  if (typeof regex !== 'string' || /(?<!\\)(?:\\\\)*[.*+?^${}()|[\]]|\\\w/.test(regex)) return undefined;
  return regex.replace(/\\(\W)/g, '$1');
}

function offersTools(request: PythonDict): boolean {
  const tools = request.get('tools');
  return isList(tools) && tools.length > 0 && (request.get('tool_choice') ?? 'auto') === 'auto';
}

function callsIn(text: string): ScriptedCall[] {
  return [...text.matchAll(CALL)].flatMap(([, json = '']) => {
    const call = parsePythonJson(json);
    const name = isDict(call) ? call.get('name') : undefined;
    if (typeof name !== 'string') return [];
    return [{ name, arguments: ARGUMENTS.exec(json)?.[1]?.trim() ?? '{}' }];
  });
}
