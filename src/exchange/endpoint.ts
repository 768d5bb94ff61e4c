import type { RawObject } from '../body/raw-object.js';
import { CAP_FIELDS, type CapField } from '../budget/cap-field.js';

/** A way to ask for a generation. */
export interface Endpoint {
  /** The endpoint's name in the log. */
  readonly name: string;
  /** Path behind the upstream's base. */
  readonly path: string;
  /** The members that cap the output, in the order in which ties are broken. */
  readonly capFields: readonly CapField[];
  /** True where a body is a generation request: anything else passes as `ignored`. */
  accepts(body: RawObject): boolean;
}

const OPENING_BRACKET = 0x5b;

/** The intercepted endpoints, all of them `POST`; everything else is passed through. */
export const ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'chat_completions',
    path: '/v1/chat/completions',
    capFields: CAP_FIELDS,
    accepts: (body) => body.raw('messages')?.[0] === OPENING_BRACKET,
  },
];

const BY_PATH: ReadonlyMap<string, Endpoint> = new Map(
  ENDPOINTS.map((endpoint) => [endpoint.path, endpoint]),
);

/** The endpoint at a path without query, `undefined` where none is intercepted. */
export function endpointAt(method: string | undefined, pathname: string): Endpoint | undefined {
  return method === 'POST' ? BY_PATH.get(pathname) : undefined;
}
