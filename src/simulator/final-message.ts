import { isTruthy, type PythonDict } from './python-value.js';

export const bothSet = 'Cannot set both `continue_final_message` and `add_generation_prompt` to True.';

/** Looked at before the values are read: to Python the text `false` is true. */
export function setsBoth(request: PythonDict): boolean {
  return isTruthy(request.get('continue_final_message')) && isTruthy(request.get('add_generation_prompt'));
}
