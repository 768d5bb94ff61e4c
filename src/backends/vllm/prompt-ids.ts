import type { RawObject } from '../../body/raw-object.js';
import { CountFailedError } from '../contract.js';

/**
 * How many token ids a prefill server hands over in `kv_transfer_params.prompt_token_ids`: they are the prompt
 * then, whatever the messages are. `undefined`: there are none.
 * @throws CountFailedError `unsupported` where they are no token ids.
 */
export function transferredPromptTokens(request: RawObject): number | undefined {
  const params = request.value('kv_transfer_params');
  if (typeof params !== 'object' || params === null) return undefined;
  const ids: unknown = Reflect.get(params, 'prompt_token_ids') ?? undefined;
  if (ids === undefined) return undefined;
  if (!Array.isArray(ids) || ids.length === 0 || !ids.every(isTokenId))
    throw new CountFailedError('unsupported');
  return ids.length;
}

function isTokenId(id: unknown): boolean {
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0;
}

/** @throws CountFailedError `unsupported` where there are some in a request that is counted otherwise */
export function refusePromptIds(request: RawObject): void {
  if (transferredPromptTokens(request) !== undefined) throw new CountFailedError('unsupported');
}
