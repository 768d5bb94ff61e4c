import type { OwnError } from './answer.js';
import { type ErrorFields, type ErrorShape, errorBody } from './error-shape.js';

interface ErrorRow {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

/** Every error that the proxy itself answers with. Everything else a client sees is the upstream's own. */
const ERRORS = {
  invalid_api_key: {
    status: 401,
    type: 'invalid_request_error',
    message:
      'Incorrect API key provided. Send one of the keys this proxy accepts as "Authorization: Bearer KEY".',
  },
  admin_only: {
    status: 401,
    type: 'invalid_request_error',
    message:
      'This endpoint answers local requests only, unless an admin token is configured and sent as "Authorization: Bearer TOKEN".',
  },
  not_found: {
    status: 404,
    type: 'invalid_request_error',
    message: 'The proxy has no such endpoint under /incontext/.',
  },
  conversation_unknown: {
    status: 404,
    type: 'invalid_request_error',
    message: 'The proxy knows no conversation of this id.',
  },
  malformed_order: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The body has to be empty or a JSON object whose "focus" is a text.',
  },
  malformed_query: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The query may have "endpoint" once, a path such as /v1/responses, and nothing else.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    message: 'The proxy does not answer this method at this endpoint.',
  },
  malformed_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'What arrived is not an HTTP request.',
  },
  header_fields_too_large: {
    status: 431,
    type: 'invalid_request_error',
    message: 'The header fields of the request are too large.',
  },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The header fields of the request did not arrive in time.',
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    message: 'Something in the proxy failed. Its log names the kind of error.',
  },
  upstream_unreachable: {
    status: 502,
    type: 'api_error',
    message: 'The inference server behind the proxy cannot be reached.',
  },
  upstream_reset: {
    status: 502,
    type: 'api_error',
    message: 'The inference server behind the proxy closed the connection without an answer.',
  },
  upstream_timeout: {
    status: 504,
    type: 'api_error',
    message: 'The inference server behind the proxy did not answer in time.',
  },
} as const satisfies Record<string, ErrorRow>;

export type OwnErrorCode = keyof typeof ERRORS;

/** @returns status and body of an error of ours. */
export function ownError(code: OwnErrorCode, shape: ErrorShape = 'openai'): OwnError {
  const { status } = ERRORS[code];
  return { status, body: errorBody(status, ownErrorFields(code), shape) };
}

/** What an error of ours says. */
export function ownErrorFields(code: OwnErrorCode): ErrorFields {
  const { type, message } = ERRORS[code];
  return { message, type, param: null, code };
}
