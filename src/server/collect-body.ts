import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

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
    return Promise.resolve({ kind: 'over', stream: request });
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
      resolve({ kind: 'over', stream: Readable.from(headAndRest(chunks, request), { objectMode: false }) });
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

async function* headAndRest(head: readonly Buffer[], rest: IncomingMessage): AsyncGenerator<Buffer> {
  yield* head;
  for await (const chunk of rest) yield chunk as Buffer;
}
