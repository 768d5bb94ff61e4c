import type { RawObject } from '../body/raw-object.js';
import { CAP_FIELDS, type CapField } from '../budget/cap-field.js';
import { isChat, isCompletion, isMessages, isResponse } from './accepted.js';
import { leastWithThinking } from './thinking-budget.js';

/** A way to ask for a generation. How its prompt is counted is the backend's to know: it is told the path. */
export interface Endpoint {
  /** The endpoint's name in the log. */
  readonly name: string;
  /** Path behind the upstream's base. */
  readonly path: string;
  /** The members that cap the output, in the order in which ties are broken. */
  readonly capFields: readonly CapField[];
  /** True where a request without a cap gets one. Elsewhere there is nothing to decide on it: it passes as `ignored`. */
  readonly insertsCap: boolean;
  /** True where a context engine may drive a request. Elsewhere it is clamped only: W is the whole context length. */
  readonly hasEngine: boolean;
  /** True where a body is a generation request that is understood: anything else passes as `ignored`. */
  accepts(body: RawObject): boolean;
  /** The fewest tokens of output that the request itself allows beside `min_tokens`. */
  leastOutput?(body: RawObject): number | undefined;
}

/** The intercepted endpoints, all of them `POST`; everything else is passed through. */
export const ENDPOINTS: readonly [Endpoint, ...Endpoint[]] = [
  {
    name: 'chat_completions',
    path: '/v1/chat/completions',
    capFields: CAP_FIELDS,
    insertsCap: true,
    hasEngine: true,
    accepts: isChat,
  },
  {
    name: 'completions',
    path: '/v1/completions',
    capFields: ['max_tokens'],
    // vLLM gives 16 tokens then.
    insertsCap: false,
    hasEngine: false,
    accepts: isCompletion,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    capFields: ['max_output_tokens'],
    insertsCap: true,
    hasEngine: false,
    accepts: isResponse,
  },
  {
    name: 'messages',
    path: '/v1/messages',
    capFields: ['max_tokens'],
    // It has to be there: the server judges a request without one.
    insertsCap: false,
    hasEngine: false,
    accepts: isMessages,
    leastOutput: leastWithThinking,
  },
];

const BY_PATH: ReadonlyMap<string, Endpoint> = new Map(
  ENDPOINTS.map((endpoint) => [endpoint.path, endpoint]),
);

/** The endpoint at a path without query, `undefined` where none is intercepted. */
export function endpointAt(method: string | undefined, pathname: string): Endpoint | undefined {
  return method === 'POST' ? BY_PATH.get(pathname) : undefined;
}
