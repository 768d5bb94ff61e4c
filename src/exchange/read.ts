import type { BodyReader } from '../body/body-reader.js';
import { withoutPrivateFields } from '../body/private-fields.js';
import { type RawObject, readBody } from '../body/raw-object.js';
import type { Reason } from '../budget/reason.js';
import type { Endpoint } from './endpoint.js';

export type Reading =
  | { readonly kind: 'request'; readonly request: RawObject; readonly model: string | undefined }
  | { readonly kind: 'pass'; readonly reason: Extract<Reason, 'not_json' | 'ignored'> };

/** Locates the members of a generation request; its private fields are gone. Anything else passes. */
export function readRequest(bytes: Buffer, endpoint: Endpoint, bodies: BodyReader): Reading {
  const body = bodies.read(bytes);
  if (body.kind === 'not_json') return { kind: 'pass', reason: 'not_json' };
  if (body.kind === 'other' || !endpoint.accepts(body.object)) return { kind: 'pass', reason: 'ignored' };
  const request = withoutPrivate(body.object);
  const model = request.value('model');
  return { kind: 'request', request, model: typeof model === 'string' && model !== '' ? model : undefined };
}

function withoutPrivate(object: RawObject): RawObject {
  const bytes = withoutPrivateFields(object);
  if (bytes === object.bytes) return object;
  const body = readBody(bytes);
  return body.kind === 'object' ? body.object : object;
}
