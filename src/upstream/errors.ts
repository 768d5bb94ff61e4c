import { errors } from 'undici';

/** Why the upstream gave no answer, as our own error codes say it. */
export type UpstreamFailure = 'upstream_unreachable' | 'upstream_reset' | 'upstream_timeout';

/** The upstream gave no answer, or its answer broke off. Carries no address and no message of the cause. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  constructor(
    readonly code: UpstreamFailure,
    /** The code or class of the underlying error, safe to log. */
    readonly causeCode: string,
  ) {
    super(code);
  }
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
]);

/** Maps what undici or a socket reports to one of our codes. Certificates that do not verify are unreachable. */
export function toUpstreamError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  const code = errorCode(error);
  if (error instanceof errors.ConnectTimeoutError || error instanceof errors.HeadersTimeoutError) {
    return new UpstreamError('upstream_timeout', code);
  }
  if (error instanceof errors.BodyTimeoutError) return new UpstreamError('upstream_timeout', code);
  if (code.startsWith('UND_ERR_SOCKET') || code.startsWith('HPE_'))
    return new UpstreamError('upstream_reset', code);
  if (code === 'ECONNRESET' || code === 'EPIPE') return new UpstreamError('upstream_reset', code);
  if (
    UNREACHABLE.has(code) ||
    code.startsWith('ERR_TLS') ||
    code.includes('CERT') ||
    code.startsWith('ERR_SSL')
  ) {
    return new UpstreamError('upstream_unreachable', code);
  }
  return new UpstreamError('upstream_reset', code);
}

function errorCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : typeof error;
}
