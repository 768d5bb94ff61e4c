import { z } from 'zod';
import type { RawObject } from '../../body/raw-object.js';
import { CountFailedError } from '../contract.js';

const transferParams = z.looseObject({ prompt_token_ids: z.unknown() });
const tokenIds = z.array(z.int().nonnegative()).nonempty();

/**
 * How many token ids a prefill server hands over in `kv_transfer_params.prompt_token_ids`: they are the prompt
 * then, whatever the messages are. `undefined`: there are none.
 * @throws CountFailedError `unsupported` where they are no token ids.
 */
export function transferredPromptTokens(request: RawObject): number | undefined {
  if (!request.has('kv_transfer_params')) return undefined;
  const params = transferParams.safeParse(request.value('kv_transfer_params'));
  const ids = params.data?.prompt_token_ids ?? undefined;
  if (ids === undefined) return undefined;
  const read = tokenIds.safeParse(ids);
  if (!read.success) throw new CountFailedError('unsupported');
  return read.data.length;
}
