import type { BodyReader } from '../body/body-reader.js';
import { withoutPrivateFields } from '../body/private-fields.js';
import { type RawObject, readBody } from '../body/raw-object.js';
import type { Reason } from '../budget/reason.js';
import type { Endpoint } from './endpoint.js';

export interface GenerationRequest {
  readonly kind: 'request';
  /** Without private fields: what may go upstream. */
  readonly request: RawObject;
  /** As the client sent it. */
  readonly sent: RawObject;
  readonly model: string | undefined;
}

export type Reading =
  | GenerationRequest
  | { readonly kind: 'pass'; readonly reason: Extract<Reason, 'not_json' | 'ignored'> };

/** Locates the members of a generation request; the private fields of a conversation are gone. Anything else passes. */
export function readRequest(bytes: Buffer, endpoint: Endpoint, bodies: BodyReader): Reading {
  const body = bodies.read(bytes);
  if (body.kind === 'not_json') return { kind: 'pass', reason: 'not_json' };
  if (body.kind === 'other' || !endpoint.accepts(body.object)) return { kind: 'pass', reason: 'ignored' };
  const request = endpoint.form === 'chat' ? withoutPrivate(body.object) : body.object;
  const model = request.value('model');
  const name = typeof model === 'string' && model !== '' ? model : undefined;
  return { kind: 'request', request, sent: body.object, model: name };
}

function withoutPrivate(object: RawObject): RawObject {
  const bytes = withoutPrivateFields(object);
  if (bytes === object.bytes) return object;
  const body = readBody(bytes);
  return body.kind === 'object' ? body.object : object;
}
