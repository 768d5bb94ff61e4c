import type { RawObject } from '../body/raw-object.js';
import { CAP_FIELDS, type CapField } from '../budget/cap-field.js';
import type { Dialect } from '../chat-form/chat-form.js';
import { MESSAGES_DIALECT } from '../chat-form/messages-dialect.js';
import { RESPONSES_DIALECT } from '../chat-form/responses-dialect.js';
import type { ErrorShape } from '../stream/error-shape.js';
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
  /**
   * How a request is a chat for a context engine: it is one, or there is a way there and back. Without any it is
   * clamped only: W is the whole context length.
   */
  readonly form: 'chat' | Dialect | undefined;
  readonly errorShape: ErrorShape;
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
    form: 'chat',
    errorShape: 'openai',
    accepts: isChat,
  },
  {
    name: 'completions',
    path: '/v1/completions',
    capFields: ['max_tokens'],
    // vLLM gives 16 tokens then.
    insertsCap: false,
    form: undefined,
    errorShape: 'openai',
    accepts: isCompletion,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    capFields: ['max_output_tokens'],
    insertsCap: true,
    form: RESPONSES_DIALECT,
    errorShape: 'responses',
    accepts: isResponse,
  },
  {
    name: 'messages',
    path: '/v1/messages',
    capFields: ['max_tokens'],
    // It has to be there: the server judges a request without one.
    insertsCap: false,
    form: MESSAGES_DIALECT,
    errorShape: 'anthropic',
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

/** How clients of a path know errors: of an endpoint's own, and of those below it. */
export function errorShapeAt(pathname: string): ErrorShape {
  return (
    ENDPOINTS.find(({ path }) => pathname === path || pathname.startsWith(`${path}/`))?.errorShape ?? 'openai'
  );
}
