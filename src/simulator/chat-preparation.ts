import type { Call } from './call.js';
import { type ChatAsk, chatHandler, readChatRequest } from './chat-request.js';
import type { AnswerHead } from './chat-shape.js';
import { forcedCall } from './forced-call.js';
import { type Instance, now } from './instance.js';
import { readJsonObject } from './json-body.js';
import { type Ask, checkCap, effectiveCap } from './limits.js';
import type { ResolvedOptions, ServedModel } from './options.js';
import { countedPrompt } from './prompt-tokens.js';
import { isDict, isList, type PythonDict, type PythonValue } from './python-value.js';
import { badRequest } from './refusal.js';
import { scriptOfMessages } from './script.js';
import type { Script } from './script-schema.js';
import { transferredIds } from './transferred-ids.js';

/** A chat request that passed every check. */
export interface PreparedChat {
  readonly request: PythonDict;
  readonly ask: ChatAsk;
  readonly model: ServedModel;
  readonly head: AnswerHead;
  readonly promptIds: readonly number[];
  /** Most tokens of each choice. */
  readonly cap: number;
  readonly script: Script;
  /** The last message's content, when the answer is to start with it. */
  readonly echoed: string;
}

/** @throws Refusal in the server's words */
export function prepareChat(call: Call, instance: Instance): Promise<PreparedChat> {
  const { vllm } = instance.options;
  const request = readJsonObject(call, vllm, chatHandler);
  return prepareAsked(request, readChatRequest(request, vllm), call, instance);
}

/**
 * A chat request that was read already, or made of another endpoint's.
 * @param checkLength refuses a prompt of so many tokens, where the endpoint does so by itself
 * @throws Refusal in the server's words
 */
export async function prepareAsked(
  request: PythonDict,
  ask: ChatAsk,
  call: Call,
  instance: Instance,
  checkLength: (tokens: number, model: ServedModel) => void = () => {},
): Promise<PreparedChat> {
  const { vllm } = instance.options;
  const model = instance.model(request.get('model'));
  checkAutoToolChoice(request, instance.options);
  const { maxTokens, maxTokensText, maxTokensField: field, minTokens } = ask;
  const limits: Ask = { vllm, maxModelLen: model.maxModelLen, maxTokens, maxTokensText, field, minTokens };

  checkCap(limits);
  const text = instance.renderer.render(request, 'chat', model.id);
  const transferred = transferredIds(request, vllm);
  const promptIds = transferred ?? (await countedPrompt(text, instance.tokenizer, limits, ask));
  checkLength(promptIds.length, model);
  const cap = effectiveCap(limits, promptIds.length);
  const given = request.get('messages');
  const messages: readonly PythonValue[] = isList(given) ? given : [];
  const scripted = instance.attempts.choose(scriptOfMessages(messages), call.path, request);
  return {
    request,
    ask,
    model,
    head: {
      id: `chatcmpl-${call.header('x-request-id') ?? instance.nextId()}`,
      created: now(),
      model: model.id,
      vllm,
      fingerprint: instance.fingerprint,
    },
    promptIds,
    cap,
    script: forcedCall(request, scripted, ask.namedTool, cap, vllm),
    echoed: ask.echo ? contentOf(messages.at(-1)) : '',
  };
}

function checkAutoToolChoice(request: PythonDict, options: ResolvedOptions): void {
  const tools = request.get('tools');
  const choice = request.get('tool_choice') ?? 'auto';
  if (options.enableAutoToolChoice || !isList(tools) || tools.length === 0 || choice !== 'auto') return;
  throw badRequest('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set');
}

function contentOf(message: PythonValue | undefined): string {
  const content = isDict(message) ? message.get('content') : undefined;
  return typeof content === 'string' ? content : '';
}
