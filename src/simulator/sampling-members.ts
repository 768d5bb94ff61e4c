import { atLeast, dictionary, float, integer, list, literal, required, string } from './checks.js';
import { Branch, type Check } from './issue.js';
import { isDict } from './python-value.js';
import type { VllmVersion } from './version.js';

/** One text, or a list of them. */
const stop: Check = (value, place, issues) => {
  if (typeof value === 'string') return;
  const before = issues.length;
  list(string)(value, [...place, new Branch('list[str]')], issues);
  if (issues.length === before) return;
  const ofList = issues.splice(before);
  string(value, [...place, new Branch('str')], issues);
  issues.push(...ofList);
};

const logitBias: Check = (value, place, issues) => {
  dictionary(value, place, issues);
  if (isDict(value)) for (const [name, bias] of value) float(bias, [...place, name], issues);
};

const formats = ['text', 'json_object', 'json_schema', 'structural_tag'] as const;

const responseFormat: Check = (value, place, issues) => {
  if (!isDict(value)) {
    const message = 'Input should be a valid dictionary or object to extract fields from';
    issues.push({ type: 'model_attributes_type', place, message, input: value ?? null });
    return;
  }
  required(value, literal(...formats))(value.get('type'), [...place, 'type'], issues);
  if (value.get('type') !== 'json_schema') return;
  required(value, dictionary)(value.get('json_schema'), [...place, 'json_schema'], issues);
};

/** What both kinds of generation take, besides what they read differently. */
export function samplingMembers(vllm: VllmVersion): Readonly<Record<string, Check>> {
  return {
    model: string,
    frequency_penalty: float,
    logit_bias: logitBias,
    max_tokens: integer,
    n: integer,
    presence_penalty: float,
    response_format: responseFormat,
    seed: integer,
    stop,
    temperature: float,
    top_p: float,
    top_k: integer,
    min_p: float,
    stop_token_ids: list(integer),
    min_tokens: integer,
    // 0.16 looks at the number itself, later.
    truncate_prompt_tokens: vllm === '0.16' ? integer : atLeast(-1),
    cache_salt: string,
  };
}
