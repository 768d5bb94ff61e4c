import { embeddingSize } from './chat-request.js';
import { atLeast, boolean, integer, list, optional, string } from './checks.js';
import { integerText, readInteger } from './coercion.js';
import {
  Branch,
  type Check,
  type Handler,
  type Issue,
  type Place,
  validationRefusal,
  valueIssue,
} from './issue.js';
import { isList, type PythonDict, type PythonValue } from './python-value.js';
import { badParameter, badRequest, openAiRefusal, Refusal } from './refusal.js';
import { checkLogprobs, checkSampling } from './sampling.js';
import { readSamplingAsk, type SamplingAsk } from './sampling-ask.js';
import { samplingMembers } from './sampling-members.js';
import { readStreamOptions, type StreamOptions } from './stream-options.js';
import type { VllmVersion } from './version.js';

export const completionHandler: Handler = {
  line: 34,
  name: 'create_completion',
  route: 'POST /v1/completions',
};

/** A prompt as text or as token ids. */
export type CompletionPrompt = string | readonly number[];

export interface CompletionAsk extends StreamOptions, SamplingAsk {
  readonly prompts: readonly CompletionPrompt[];
  readonly maxTokens: number;
  readonly maxTokensText: string;
  /** Alternatives to show for each token; null: no logprobs. */
  readonly logprobs: number | null;
}

/** Without a cap of its own a completion has this one. */
const defaultMaxTokens = 16;

function members(vllm: VllmVersion): Readonly<Record<string, Check>> {
  return { ...samplingMembers(vllm), echo: boolean, logprobs: integer, stream: boolean };
}

/** @throws Refusal in the server's words */
export function readCompletionRequest(request: PythonDict, vllm: VllmVersion): CompletionAsk {
  const prompt = request.get('prompt') ?? null;
  if (prompt === null || prompt === '' || hasEmptyPrompt(prompt)) refuseEmptyPrompt(request, vllm);
  const issues: Issue[] = [];
  promptCheck(vllm)(prompt, ['body', 'prompt'], issues);
  for (const [name, check] of Object.entries(members(vllm)))
    optional(check)(request.get(name), ['body', name], issues);
  if (issues.length > 0) throw validationRefusal(issues, vllm, completionHandler);
  const choices = readInteger(request.get('n')) ?? 1;
  checkSampling(request, choices, vllm);
  checkLogprobCount(request, vllm);
  return {
    ...readStreamOptions(request, vllm, completionHandler),
    prompts: readPrompts(prompt),
    maxTokens: readInteger(request.get('max_tokens')) ?? defaultMaxTokens,
    maxTokensText: integerText(request.get('max_tokens')),
    ...readSamplingAsk(request, choices),
    logprobs: readInteger(request.get('logprobs')) ?? null,
  };
}

function checkLogprobCount(request: PythonDict, vllm: VllmVersion): void {
  const wanted = readInteger(request.get('logprobs')) ?? 0;
  checkLogprobs(wanted);
  if (wanted >= 0) return;
  const message = '`logprobs` must be a positive value.';
  if (vllm === '0.32') throw badParameter(message, 'logprobs');
  throw validationRefusal([valueIssue(message, request)], vllm, completionHandler);
}

/** What is refused only once the model is known. */
export function checkCompletion(request: PythonDict, ask: CompletionAsk, vllm: VllmVersion): void {
  if ((request.get('suffix') ?? null) !== null) {
    throw vllm === '0.16'
      ? badRequest('suffix is not currently supported')
      : badRequest('suffix is only supported for models with FIM completion rendering', 'suffix');
  }
  if (ask.prompts.length === 0) throw badRequest('You must pass at least one prompt');
  for (const prompt of ask.prompts) {
    if (typeof prompt === 'string') continue;
    const unknown = prompt.find((id) => id >= embeddingSize);
    if (unknown !== undefined) {
      throw badRequest(`Token id ${spelledId(request.get('prompt'), unknown)} is out of vocabulary`);
    }
    // 0.16 looks such an id up, and its engine breaks while the answer's head is already out.
    if (prompt.some((id) => id < 0)) throw brokenEngine();
  }
  // So it does over a cap that is given as null.
  if (vllm === '0.16' && request.get('max_tokens') === null) throw brokenEngine();
}

/** An id as the request writes it. */
function spelledId(prompt: PythonValue | undefined, id: number): string {
  const found = (isList(prompt) ? prompt : []).flat().find((one) => readInteger(one) === id);
  return integerText(found);
}

function brokenEngine(): Refusal {
  const problem = openAiRefusal({
    message: 'EngineCore encountered an issue. See stack trace (above) for the root cause.',
    type: 'InternalServerError',
    param: null,
    code: 500,
  });
  return new Refusal(200, problem.body);
}

/** Of several prompts one is empty. */
function hasEmptyPrompt(prompt: PythonValue): boolean {
  return isList(prompt) && prompt.some((one) => one === '' || (isList(one) && one.length === 0));
}

function refuseEmptyPrompt(request: PythonDict, vllm: VllmVersion): never {
  const message = 'Either prompt or prompt_embeds must be provided and non-empty.';
  if (vllm === '0.32') throw badParameter(message, 'prompt');
  throw validationRefusal([valueIssue(message, request)], vllm, completionHandler);
}

/** Ids, lists of ids, a text, or texts: a prompt that is none of them is reported four times. */
function promptCheck(vllm: VllmVersion): Check {
  const id: Check = vllm === '0.16' ? integer : atLeast(0);
  const forms: readonly (readonly [string, Check])[] = [
    ['list[int]', list(id)],
    ['list[list[int]]', list(list(id))],
    ['str', string],
    ['list[str]', list(string)],
  ];
  return (value, place, issues) => {
    const found = forms.map(([name, check]) => {
      const ofForm: Issue[] = [];
      check(value, [...place, new Branch(name)] satisfies Place, ofForm);
      return ofForm;
    });
    if (found.every((ofForm) => ofForm.length > 0)) issues.push(...found.flat());
  };
}

function readPrompts(prompt: PythonValue): readonly CompletionPrompt[] {
  if (typeof prompt === 'string') return [prompt];
  if (!isList(prompt) || prompt.length === 0) return [];
  if (typeof prompt[0] === 'string') return prompt.map(String);
  return isList(prompt[0]) ? prompt.map(readIds) : [readIds(prompt)];
}

function readIds(ids: PythonValue): readonly number[] {
  return isList(ids) ? ids.map((id) => readInteger(id) ?? 0) : [];
}
