import type { Call, WholeAnswer } from './call.js';
import type { Instance } from './instance.js';
import { readJsonObject } from './json-body.js';
import type { ServedModel } from './options.js';
import { isList, type PythonDict, PythonNumber } from './python-value.js';
import { ErrorBelow, UnreadPart } from './refusal.js';
import { scriptOfMessages, scriptOfText } from './script.js';
import { scriptedError } from './script-run.js';
import type { TokenizeScript } from './script-schema.js';
import { refuseLoneSurrogates } from './text.js';
import {
  checkDetokenizeRequest,
  checkTokenizeRequest,
  detokenizeHandler,
  tokenizeHandler,
} from './tokenize-request.js';
import { transferredIds } from './transferred-ids.js';

/** `POST /tokenize`: a prompt, or a chat, which wins when both are there. */
export async function answerTokenize(call: Call, instance: Instance): Promise<void> {
  const { vllm, tokenizeDelayMs } = instance.options;
  const request = readJsonObject(call, vllm, tokenizeHandler, 2);
  const form = checkTokenizeRequest(request, vllm);
  const model = instance.model(request.get('model'));
  const text = textOf(request, form, model, instance);
  const script = scriptOf(request, form, call, instance);
  call.deliver({ headers: script.headers });
  await call.pause(script.delay_ms ?? tokenizeDelayMs);
  const answer = replacement(script) ?? (await counted(text, request, model, script, instance));
  if (script.cut) await call.cut(answer);
  else call.respond(answer.status, answer.body, answer.contentType);
}

function textOf(
  request: PythonDict,
  form: 'prompt' | 'chat',
  model: ServedModel,
  { options, renderer }: Instance,
): string {
  try {
    const text =
      form === 'prompt' ? String(request.get('prompt')) : renderer.render(request, 'tokenize', model.id);
    refuseLoneSurrogates(text);
    return text;
  } catch (error) {
    if (error instanceof UnreadPart) throw error.asSuccess();
    throw error instanceof ErrorBelow && options.vllm === '0.16' ? error.withCause() : error;
  }
}

function scriptOf(
  request: PythonDict,
  form: 'prompt' | 'chat',
  call: Call,
  instance: Instance,
): TokenizeScript {
  const messages = request.get('messages');
  const script =
    form === 'prompt'
      ? scriptOfText(String(request.get('prompt')))
      : scriptOfMessages(isList(messages) ? messages : []);
  return instance.attempts.choose(script, call.path, request).tokenize ?? {};
}

/** What a script answers in place of a count. */
function replacement(script: TokenizeScript): WholeAnswer | null {
  const { status, body } = script;
  const type = script.content_type === undefined ? {} : { contentType: script.content_type };
  if (body !== undefined) {
    return { status: status ?? 200, body: typeof body === 'string' ? body : JSON.stringify(body), ...type };
  }
  if (status === undefined) return null;
  return { status, body: JSON.stringify(scriptedError(status, undefined)), ...type };
}

async function counted(
  text: string,
  request: PythonDict,
  model: ServedModel,
  script: TokenizeScript,
  { tokenizer, options: { vllm } }: Instance,
): Promise<WholeAnswer> {
  const found = transferredIds(request, vllm) ?? (await tokenizer.encodeInTurns(text));
  const tokens = script.ids === undefined ? found : repeated(found, script.ids);
  const body = {
    count: script.count ?? found.length,
    max_model_len: script.max_model_len ?? model.maxModelLen,
    tokens,
    token_strs: wantsStrings(request) ? tokens.map((id) => tokenizer.tokenString(id) ?? null) : null,
  };
  return {
    status: 200,
    body: JSON.stringify(body),
    ...(script.content_type === undefined ? {} : { contentType: script.content_type }),
  };
}

function repeated(ids: readonly number[], length: number): number[] {
  return Array.from({ length }, (_, at) => ids[at % ids.length] ?? 0);
}

function wantsStrings(request: PythonDict): boolean {
  return request.get('return_token_strs') === true;
}

/** `POST /detokenize`. */
export function answerDetokenize(call: Call, instance: Instance): void {
  const { vllm } = instance.options;
  const request = readJsonObject(call, vllm, detokenizeHandler);
  checkDetokenizeRequest(request, vllm);
  instance.model(request.get('model'));
  const given = request.get('tokens');
  const ids = isList(given) ? given.map((id) => (id instanceof PythonNumber ? id.value : 0)) : [];
  call.json({ prompt: instance.tokenizer.decode(ids) });
}
