import { readInteger } from './coercion.js';
import { isDict, isList, type PythonDict } from './python-value.js';
import type { VllmVersion } from './version.js';

/** The prompt that another server hands over in `kv_transfer_params`; 0.16 does not look at it. */
export function transferredIds(request: PythonDict, vllm: VllmVersion): readonly number[] | undefined {
  const params = request.get('kv_transfer_params');
  const ids = isDict(params) ? params.get('prompt_token_ids') : undefined;
  if (vllm === '0.16' || !isList(ids)) return undefined;
  return ids.map((id) => readInteger(id) ?? 0);
}
