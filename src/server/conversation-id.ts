import type { IncomingHttpHeaders } from 'node:http';
import type { RawObject } from '../body/raw-object.js';
import type { IdSource } from '../config/settings.js';

const HEADER = 'x-incontext-conversation';
const LONGEST_ID = 256;

/** The id that a client gave its conversation in a header: ours, else the one that the operator named. */
export function conversationIdOf(
  headers: IncomingHttpHeaders,
  source: IdSource | undefined,
): string | undefined {
  return idOf(headers[HEADER]) ?? (source?.kind === 'header' ? idOf(headers[source.name]) : undefined);
}

/** Reads it from the body's member that the operator named; `undefined`: none is named. */
export function conversationIdIn(
  source: IdSource | undefined,
): ((request: RawObject) => string | undefined) | undefined {
  return source?.kind === 'body' ? (request) => idOf(request.value(source.name)) : undefined;
}

function idOf(value: unknown): string | undefined {
  const id = typeof value === 'string' ? value.trim() : '';
  return id === '' || id.length > LONGEST_ID ? undefined : id;
}
