import { grammarAnswer } from './grammar-answer.js';
import { isDict, isList, type PythonDict } from './python-value.js';
import { badRequest } from './refusal.js';
import type { Script } from './script-schema.js';
import type { VllmVersion } from './version.js';

/** Tokens below which 0.16 cannot finish the list of calls that it then tries to read. */
const shortestCallList = 8;

/**
 * The script of a request that demands a tool call and prescribes no answer: a call without arguments. Where a
 * grammar leaves one answer only, it is that.
 * @throws Refusal as 0.16 does when the cap cuts the call off
 */
export function forcedCall(
  request: PythonDict,
  script: Script,
  named: string | null,
  cap: number,
  vllm: VllmVersion,
): Script {
  const isScripted =
    script.text !== undefined || script.tool_calls !== undefined || script.tokens !== undefined;
  const allowed = isScripted ? undefined : grammarAnswer(request);
  if (allowed !== undefined) return { ...script, ...allowed };
  const isRequired = request.get('tool_choice') === 'required';
  if (isScripted || (named === null && !isRequired)) return script;
  if (isRequired && vllm === '0.16' && cap < shortestCallList) throw badRequest(unfinishedList);
  const name = named ?? firstToolName(request);
  return { ...script, tool_calls: [{ name, arguments: {} }] };
}

const unfinishedList =
  "1 validation error for list[function-wrap[__log_extra_fields__()]]\n  Invalid JSON: EOF while parsing a list at line 1 column 1 [type=json_invalid, input_value='[', input_type=str]\n    For further information visit https://errors.pydantic.dev/2.14/v/json_invalid";

function firstToolName(request: PythonDict): string {
  const tools = request.get('tools');
  const first = isList(tools) ? tools[0] : undefined;
  const definition = isDict(first) ? first.get('function') : undefined;
  const name = isDict(definition) ? definition.get('name') : undefined;
  return typeof name === 'string' ? name : '';
}
