import type { BodyReader } from '../body/body-reader.js';
import type { RawObject } from '../body/raw-object.js';
import { type ChatForm, ownForm } from '../chat-form/chat-form.js';
import type { Endpoint } from './endpoint.js';
import type { ExchangeParts } from './parts.js';

/** The request as a context engine sees it; `undefined` where none may drive it. */
export function formOf(
  request: RawObject,
  { form }: Endpoint,
  { engine, forms, bodies }: ExchangeParts,
): ChatForm | undefined {
  if (form === 'chat') return ownForm(request);
  if (form === undefined || engine.name === 'none') return undefined;
  return forms.read(request, form, (bytes) => located(bytes, bodies));
}

/** The members of a body of our own. */
export function located(bytes: Buffer, bodies: BodyReader): RawObject {
  const body = bodies.read(bytes);
  if (body.kind !== 'object') throw new TypeError('the view is no JSON object');
  return body.object;
}
