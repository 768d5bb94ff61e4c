/** Whose form a client of an endpoint knows errors in. */
export type ErrorShape = 'openai' | 'responses' | 'anthropic';

/** What an error says, whatever its form. */
export interface ErrorFields {
  readonly message: unknown;
  readonly type: unknown;
  readonly param: unknown;
  readonly code: unknown;
}

/** Anthropic's names for statuses (its API reference, "Errors"). */
const ANTHROPIC_TYPES: ReadonlyMap<number, string> = new Map([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
]);

/** The body of an answer that is an error, as JSON text. */
export function errorBody(status: number, error: ErrorFields, shape: ErrorShape): string {
  return JSON.stringify(
    shape === 'anthropic' ? { type: 'error', error: { ...error, type: anthropicType(status) } } : { error },
  );
}

/** The same for a client whose answer has begun as an event stream already, and the stream's end. */
export function errorEvents(status: number, error: ErrorFields, shape: ErrorShape): string {
  if (shape === 'openai') return `data: ${errorBody(status, error, shape)}\n\ndata: [DONE]\n\n`;
  if (shape === 'anthropic') return `event: error\ndata: ${errorBody(status, error, shape)}\n\n`;
  const { message, param, code } = error;
  // `error` is what the SDKs of OpenAI raise an exception for.
  const event = { type: 'error', sequence_number: 0, message, param, code, error };
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
}

function anthropicType(status: number): string {
  return ANTHROPIC_TYPES.get(status) ?? 'api_error';
}
