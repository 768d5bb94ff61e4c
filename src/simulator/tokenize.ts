import type { Call } from './call.js';
import type { Instance } from './instance.js';
import { readJsonObject } from './json-body.js';
import { isList, type PythonDict, PythonNumber } from './python-value.js';
import { refuseLoneSurrogates } from './text.js';
import {
  checkDetokenizeRequest,
  checkTokenizeRequest,
  detokenizeHandler,
  tokenizeHandler,
} from './tokenize-request.js';

/** `POST /tokenize`: a prompt, or a chat, which wins when both are there. */
export function answerTokenize(call: Call, instance: Instance): void {
  const { vllm } = instance.options;
  const request = readJsonObject(call, vllm, tokenizeHandler, 2);
  const form = checkTokenizeRequest(request, vllm);
  const model = instance.model(request.get('model'));
  const text =
    form === 'prompt'
      ? String(request.get('prompt'))
      : instance.renderer.render(request, 'tokenize', model.id);
  refuseLoneSurrogates(text, vllm);
  const tokens = instance.tokenizer.encode(text);
  call.json({
    count: tokens.length,
    max_model_len: model.maxModelLen,
    tokens,
    token_strs: wantsStrings(request) ? tokens.map((id) => instance.tokenizer.tokenString(id) ?? null) : null,
  });
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
