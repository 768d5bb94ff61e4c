import { isList, type PythonDict } from './python-value.js';
import { badRequest } from './refusal.js';
import { type Handler, type Issue, validationRefusal } from './validation.js';
import type { VllmVersion } from './version.js';

export const tokenizeHandler: Handler = { line: 38, name: 'tokenize', route: 'POST /tokenize' };
export const detokenizeHandler: Handler = { line: 38, name: 'detokenize', route: 'POST /detokenize' };

/** Which of the two forms the request has. @throws Refusal for neither */
export function checkTokenizeRequest(request: PythonDict, vllm: VllmVersion): 'prompt' | 'chat' {
  if (isList(request.get('messages'))) {
    if (request.get('continue_final_message') === true && request.get('add_generation_prompt') === true) {
      throw badRequest('Cannot set both `continue_final_message` and `add_generation_prompt` to True.');
    }
    return 'chat';
  }
  if (typeof request.get('prompt') === 'string') return 'prompt';
  const missing: Issue = {
    type: 'missing',
    place: ['body', 'prompt'],
    message: 'Field required',
    input: request,
  };
  throw validationRefusal([missing], vllm, tokenizeHandler);
}

/** @throws Refusal for anything but a list of ids */
export function checkDetokenizeRequest(request: PythonDict, vllm: VllmVersion): void {
  if (isList(request.get('tokens'))) return;
  const missing: Issue = {
    type: 'missing',
    place: ['body', 'tokens'],
    message: 'Field required',
    input: request,
  };
  throw validationRefusal([missing], vllm, detokenizeHandler);
}
