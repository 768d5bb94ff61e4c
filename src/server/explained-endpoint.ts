import { ENDPOINTS, type Endpoint, endpointAt } from '../exchange/endpoint.js';
import { readRequestPath } from './request-path.js';

const BEGINS_AS_TARGET = /^(?:\/|https?:\/\/)/i;

/**
 * Where a request is sent whose explanation is asked for: read as the front reads a request's own target.
 * @param prefix `''`, or the path that clients' paths may start with.
 * @returns `passes` where the request is not looked at, `no_path` where this is none. Default: chats.
 */
export function explainedEndpoint(
  target: string | undefined,
  prefix: string,
): Endpoint | 'passes' | 'no_path' {
  if (target === undefined) return ENDPOINTS[0];
  if (!BEGINS_AS_TARGET.test(target)) return 'no_path';
  const { pathname, odd } = readRequestPath(target, prefix);
  return (odd ? undefined : endpointAt('POST', pathname)) ?? 'passes';
}
