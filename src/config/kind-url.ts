import { z } from 'zod';
import type { Kind } from './kind.js';
import { strip } from './python-number.js';

const URL_RULE = 'must be a valid HTTP or HTTPS URL';
const UPSTREAM_RULE = `${URL_RULE} without credentials, query or fragment`;
// The platform's parser forgives what a person mistyped (`https:///x` becomes the host `x`): look at the text first.
const SHAPE = /^https?:\/\/([^/?#\\\s]+)[^\\\s]*$/i;

/** Why `text` cannot be an endpoint, or `undefined` where it can. Never repeats `text`, which may hold a password. */
function urlRefusal(text: string): string | undefined {
  if (strip(text) === '') return `must not be blank: it ${URL_RULE}`;
  const authority = SHAPE.exec(text)?.[1];
  if (authority === undefined) return /\s/.test(text) ? `${URL_RULE} without white space` : URL_RULE;
  if (authority.includes('@')) return 'must not hold credentials: give them in a setting of their own';
  if (!URL.canParse(text)) return `${URL_RULE} with a valid host and port`;
  return new URL(text).port === '0' ? `${URL_RULE} with a valid port, from 1 to 65535` : undefined;
}

/** An endpoint, kept as it was written. It may have a query. */
export const endpointUrl: Kind<string> = {
  schema: z.string().transform((value, context) => {
    const url = strip(value);
    const refusal = urlRefusal(url);
    if (refusal === undefined) return url;
    context.addIssue({ code: 'custom', message: refusal });
    return z.NEVER;
  }),
  fromText: (value) => value,
  rule: `${URL_RULE} without credentials`,
  show: String,
  placeholder: 'URL',
};

/** Origin and path in front of `/v1`, without a trailing slash, whichever of the usual spellings was given. */
export const upstreamUrl: Kind<string> = {
  schema: endpointUrl.schema.transform((value, context) => {
    if (!/[?#]/.test(value)) return withoutVersion(new URL(value));
    context.addIssue({ code: 'custom', message: UPSTREAM_RULE });
    return z.NEVER;
  }),
  fromText: (value) => value,
  rule: UPSTREAM_RULE,
  show: String,
  placeholder: 'URL',
};

function withoutVersion({ origin, pathname }: URL): string {
  const path = pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return origin + path.replace(/\/+$/, '');
}
