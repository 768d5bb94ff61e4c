import type { ChatJob } from './chat-job.js';
import type { GatheredChoice } from './chat-shape.js';
import { readBoolean, readFloat, readInteger } from './coercion.js';
import { isDict, type PythonDict, type PythonValue, toPlain } from './python-value.js';
import { toolChoiceEcho, toolEchoes } from './response-tools.js';
import type { TokenCounts } from './usage.js';
import type { VllmVersion } from './version.js';

/** What stands in the answer of one Responses request from its first event to its last. */
export interface ResponseAnswer {
  readonly id: string;
  readonly request: PythonDict;
  readonly job: ChatJob;
}

/** How far an answer is. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete';
  readonly output: readonly object[];
  readonly usage: object | null;
}

/** `response`, members in vLLM's order. */
export function responseBody({ id, request, job }: ResponseAnswer, state: ResponseState): object {
  const { vllm, created, model } = job.head;
  const of = (name: string): unknown => toPlain(request.get(name) ?? null);
  const { temperature, topP } = sampling(request);
  const isCut = state.status === 'incomplete';
  return {
    id,
    created_at: created,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    instructions: of('instructions'),
    metadata: of('metadata'),
    model,
    object: 'response',
    output: state.output,
    parallel_tool_calls: readBoolean(request.get('parallel_tool_calls')) ?? true,
    temperature,
    tool_choice: toolChoiceEcho(request, vllm),
    tools: toolEchoes(request, vllm),
    top_p: topP,
    background: false,
    max_output_tokens: readInteger(request.get('max_output_tokens')) ?? job.cap,
    max_tool_calls: of('max_tool_calls'),
    previous_response_id: null,
    prompt: null,
    reasoning: reasoningEcho(request.get('reasoning')),
    service_tier: of('service_tier') ?? 'auto',
    status: state.status,
    text: textEcho(request.get('text')),
    top_logprobs: null,
    truncation: of('truncation') ?? 'disabled',
    usage: state.usage,
    user: of('user'),
    ...(vllm === '0.16' ? {} : penalties(request)),
    input_messages: null,
    output_messages: null,
  };
}

/** The items of a whole answer. */
export function outputItems(choice: GatheredChoice, nextId: () => string, hasParser: boolean): object[] {
  const items: object[] = [];
  if (choice.reasoning !== '') {
    items.push({
      id: `rs_${nextId()}`,
      summary: [],
      type: 'reasoning',
      content: [{ text: choice.reasoning, type: 'reasoning_text' }],
      encrypted_content: null,
      status: null,
    });
  }
  if (choice.content !== '' || !hasParser) items.push(messageItem(`msg_${nextId()}`, choice.content));
  for (const call of choice.calls) items.push(callItem(`fc_${nextId()}`, call, 'completed'));
  return items;
}

export function messageItem(id: string, text: string): object {
  const content = text === '' ? [] : [{ annotations: [], text, type: 'output_text', logprobs: null }];
  return { id, content, role: 'assistant', status: 'completed', type: 'message', phase: null };
}

export function callItem(
  id: string,
  call: { readonly id: string; readonly name: string; readonly arguments: string },
  status: 'in_progress' | 'completed',
): object {
  return {
    arguments: call.arguments,
    call_id: call.id,
    name: call.name,
    type: 'function_call',
    id,
    async: null,
    caller: null,
    namespace: null,
    status,
  };
}

export function responseUsage(
  { prompt, completion, reasoning }: TokenCounts,
  cached: number,
  vllm: VllmVersion,
): object {
  return {
    input_tokens: prompt,
    input_tokens_details: {
      cached_tokens: cached,
      ...(vllm === '0.16' ? {} : { cache_write_tokens: 0 }),
      input_tokens_per_turn: [],
      cached_tokens_per_turn: [],
    },
    output_tokens: completion,
    output_tokens_details: {
      reasoning_tokens: reasoning ?? 0,
      tool_output_tokens: 0,
      output_tokens_per_turn: [],
      tool_output_tokens_per_turn: [],
    },
    total_tokens: prompt + completion,
  };
}

/** The model's own defaults; without randomness nothing is left out. */
function sampling(request: PythonDict): { readonly temperature: number; readonly topP: number } {
  const temperature = readFloat(request.get('temperature') ?? undefined) ?? 0.6;
  return {
    temperature,
    topP: temperature === 0 ? 1 : (readFloat(request.get('top_p') ?? undefined) ?? 0.95),
  };
}

function penalties(request: PythonDict): object {
  return {
    presence_penalty: readFloat(request.get('presence_penalty') ?? undefined) ?? 0,
    frequency_penalty: readFloat(request.get('frequency_penalty') ?? undefined) ?? 0,
    kv_transfer_params: null,
    ec_transfer_params: null,
  };
}

function reasoningEcho(reasoning: PythonValue | undefined): object | null {
  return isDict(reasoning)
    ? withAbsent(reasoning, ['context', 'effort', 'generate_summary', 'mode', 'summary'])
    : null;
}

function textEcho(text: PythonValue | undefined): object | null {
  if (!isDict(text)) return null;
  const format = text.get('format');
  const known = ['name', 'schema', 'type', 'description', 'strict'];
  return {
    format:
      isDict(format) && format.get('type') === 'json_schema'
        ? withAbsent(format, known)
        : toPlain(format ?? null),
    verbosity: toPlain(text.get('verbosity') ?? null),
  };
}

function withAbsent(given: PythonDict, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, toPlain(given.get(name) ?? null)]));
}
