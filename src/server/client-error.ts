import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type OwnErrorCode, ownError } from '../stream/own-error.js';
import { rawHead } from './raw-head.js';

const CODES: Readonly<Record<string, OwnErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'header_fields_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Remembers which answer a connection is writing, so that an error of the client's does not end up inside it. */
export class ClientErrors {
  readonly #answerOn = new WeakMap<Duplex, ServerResponse>();

  watch(connection: Duplex, response: ServerResponse): void {
    this.#answerOn.set(connection, response);
  }

  /** Answers bytes that are no HTTP request: there is nothing that could be forwarded. */
  answer(error: Error & { code?: string }, connection: Duplex): void {
    const current = this.#answerOn.get(connection);
    const isInside = current?.headersSent === true && !current.writableFinished;
    if (error.code === 'ECONNRESET' || !connection.writable || isInside) {
      connection.destroy();
      return;
    }
    refuseConnection(connection, CODES[error.code ?? ''] ?? 'malformed_request');
  }
}

/**
 * Answers with an error of ours on a connection that no response object belongs to, and closes it.
 * @returns the status.
 */
export function refuseConnection(connection: Duplex, code: OwnErrorCode): number {
  const { status, body } = ownError(code);
  connection.on('error', () => connection.destroy());
  const fields = ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body))];
  connection.end(rawHead(status, undefined, [...fields, 'connection', 'close']) + body);
  return status;
}
