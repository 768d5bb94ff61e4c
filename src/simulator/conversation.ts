import { partsProblem, textOfPart } from './content-parts.js';
import { JsonDecodeError, parsePythonJson } from './python-json.js';
import { isDict, isList, isTruthy, type PythonDict, type PythonValue } from './python-value.js';
import { badParameter, ErrorBelow, type Refusal, UnreadPart } from './refusal.js';
import { callsProblem } from './tool-call-schema.js';
import type { VllmVersion } from './version.js';

/** How a server reads the messages of a request before the template sees them. */
export interface Reading {
  readonly vllm: VllmVersion;
  /** Chat requests of 0.32 rename `reasoning_content` to `reasoning`; `/tokenize` drops it. */
  readonly renameReasoningContent: boolean;
  /** Names the model in refusals. */
  readonly modelName: string;
}

/** The folder that the recorded servers ran their model from. */
export const modelRoot = './model-qwen3';

/** The conversation as the template gets it. */
export function readMessages(messages: readonly PythonValue[], reading: Reading): PythonValue[] {
  return messages.filter(isDict).map((message) => readMessage(message, reading));
}

function readMessage(message: PythonDict, reading: Reading): PythonDict {
  const role = message.get('role') ?? null;
  const result = new Map<string, PythonValue>();
  result.set('role', role === 'developer' && reading.vllm === '0.32' ? 'system' : role);
  result.set('content', readContent(role, message.get('content'), reading));
  if (typeof message.get('name') === 'string') result.set('name', message.get('name') ?? null);
  if (role === 'assistant') addAssistantMembers(message, result, reading);
  if (role === 'tool' && message.has('tool_call_id')) {
    result.set('tool_call_id', message.get('tool_call_id') ?? null);
  }
  return result;
}

function addAssistantMembers(message: PythonDict, result: Map<string, PythonValue>, reading: Reading): void {
  const renamed = reading.renameReasoningContent ? message.get('reasoning_content') : undefined;
  const reasoning = message.get('reasoning') ?? renamed ?? null;
  if (reasoning !== null) {
    result.set('reasoning', reasoning);
    result.set('reasoning_content', reasoning);
  }
  const problem = callsProblem(message);
  if (problem !== null) throw new ErrorBelow(problem);
  const calls = message.get('tool_calls');
  if (isList(calls) && calls.length > 0) {
    result.set(
      'tool_calls',
      calls.filter(isDict).map((call) => readToolCall(call, reading)),
    );
  }
}

function readContent(role: PythonValue, content: PythonValue | undefined, reading: Reading): string {
  if (typeof content === 'string') return content;
  // Python iterates over the keys of an object, and none of them is a part.
  const parts = isDict(content) ? [...content.keys()] : content;
  if (!isList(parts)) return '';
  const problem = partsProblem(role, parts);
  if (problem !== null) throw new ErrorBelow(problem);
  return parts
    .map((part) => readPart(part, reading))
    .filter((text) => text !== '')
    .join('\n');
}

function readPart(part: PythonValue, reading: Reading): string {
  if (!isDict(part)) return '';
  const text = textOfPart(part);
  if (text !== undefined) return text;
  if (part.get('type') === 'file')
    throw reading.vllm === '0.16' ? new UnreadPart('file') : unsupportedPart('file');
  const name = reading.vllm === '0.16' ? modelRoot : reading.modelName;
  throw new ErrorBelow(`${name} is not a multimodal model`);
}

function unsupportedPart(type: string): Refusal {
  const message = `Unsupported chat content part type: '${type}'. Supported types: ${partTypes}.`;
  return badParameter(message, 'type', type);
}

const partTypes =
  'audio_embeds, audio_url, image_embeds, image_pil, image_url, input_audio, input_image, input_text, output_text, prompt_embeds, refusal, text, thinking, tool_reference, video_embeds, video_url';

function readToolCall(call: PythonDict, reading: Reading): PythonDict {
  const called = call.get('function');
  if (!isDict(called)) return call;
  const parsed = new Map(called);
  parsed.set('arguments', readArguments(called.get('arguments'), reading));
  const result = new Map(call);
  result.set('function', parsed);
  return result;
}

function readArguments(text: PythonValue | undefined, reading: Reading): PythonValue {
  if (!isTruthy(text)) return new Map();
  if (typeof text !== 'string') return text ?? new Map();
  try {
    const read = parsePythonJson(text);
    return reading.vllm === '0.16' || isDict(read) ? read : new Map();
  } catch (error) {
    if (!(error instanceof JsonDecodeError)) throw error;
    if (reading.vllm === '0.32') return new Map();
    throw new ErrorBelow(error.fullText);
  }
}

/** The tools as the server's own model dumps them: declared members first, absent ones as null. */
export function readTools(tools: PythonValue | undefined, vllm: VllmVersion): PythonValue {
  if (!isList(tools) || tools.length === 0) return null;
  return tools.filter(isDict).map((tool) => readTool(tool, vllm));
}

function readTool(tool: PythonDict, vllm: VllmVersion): PythonDict {
  const called = new Map<string, PythonValue>();
  const given = tool.get('function');
  const definition: PythonDict = isDict(given) ? given : new Map();
  for (const name of ['name', 'description', 'parameters']) called.set(name, definition.get(name) ?? null);
  for (const [name, value] of definition) called.set(name, value);
  const result = new Map<string, PythonValue>([
    ['type', tool.get('type') ?? 'function'],
    ['function', called],
  ]);
  if (vllm === '0.16') {
    for (const [name, value] of tool) if (name !== 'function') result.set(name, value);
    return result;
  }
  const deferred = tool.get('defer_loading');
  if (deferred !== undefined && deferred !== null) {
    called.set('defer_loading', deferred);
    result.set('defer_loading', deferred);
  }
  return result;
}
