import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';

export type CollectedBody =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  /** Larger than the limit: the whole body as a stream, what was read already at its head. */
  | { readonly kind: 'over'; readonly stream: Readable }
  | { readonly kind: 'aborted' };

/** True where a request has a body (RFC 9112, section 6.3). */
export function hasBody(request: IncomingMessage): boolean {
  const { headers } = request;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Reads a body of at most `limit` bytes; a larger one comes back as a stream that lost nothing. */
export function collectBody(request: IncomingMessage, limit: number): Promise<CollectedBody> {
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    return Promise.resolve({ kind: 'over', stream: streamBody(request) });
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = () => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= limit) return;
      stop();
      request.pause();
      resolve({ kind: 'over', stream: streamBody(request, chunks) });
    };
    const onEnd = () => {
      stop();
      resolve({
        kind: 'whole',
        bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size),
      });
    };
    const onGone = () => {
      stop();
      resolve({ kind: 'aborted' });
    };
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

/**
 * A request's body as a stream of its own: whoever stops reading it destroys it, and that must not reach the
 * connection, which still carries the answer.
 */
export function streamBody(request: IncomingMessage, head: readonly Buffer[] = []): Readable {
  const body = new PassThrough();
  for (const chunk of head) body.write(chunk);
  return request.pipe(body);
}

/** As long as nginx reads on from a client that it has answered already. */
const DISCARD_MS = 30_000;

/** Reads on what a client still sends of a request that was answered: many read no answer before they sent all. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  request.unpipe();
  request.resume();
  const timer = setTimeout(() => request.destroy(), DISCARD_MS);
  timer.unref();
  request.once('close', () => clearTimeout(timer));
}
