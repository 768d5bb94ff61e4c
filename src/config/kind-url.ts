import { z } from 'zod';
import type { Kind } from './kind.js';
import { hideQuery } from './problem.js';
import { strip } from './python-number.js';

const URL_RULE = 'must be a valid HTTP or HTTPS URL';
const UPSTREAM_RULE = `${URL_RULE} without credentials, query or fragment`;
// The platform's parser forgives what a person mistyped (`https:///x` becomes the host `x`): look at the text first.
const SHAPE = /^https?:\/\/([^/?#\\\s]+)[^\\\s]*$/i;

const ENDPOINT_AT_END =
  /^(.*?)\/(?:chat\/completions|completions|v1\/(?:models|embeddings|responses|messages))\/*$/;

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
  show: hideQuery,
  placeholder: 'URL',
};

/** Origin and path in front of `/v1`, without a trailing slash, whichever of the usual spellings was given. */
export const upstreamUrl: Kind<string> = {
  schema: endpointUrl.schema.transform((value, context) => {
    const refusal = /[?#]/.test(value) ? UPSTREAM_RULE : pastedEndpoint(new URL(value));
    if (refusal === undefined) return withoutVersion(new URL(value));
    context.addIssue({ code: 'custom', message: refusal });
    return z.NEVER;
  }),
  fromText: (value) => value,
  rule: UPSTREAM_RULE,
  show: String,
  placeholder: 'URL',
};

/** Refuses the URL of one endpoint, as examples for `curl` have it: every path would be appended to it. */
function pastedEndpoint(url: URL): string | undefined {
  const base = ENDPOINT_AT_END.exec(url.pathname)?.[1];
  if (base === undefined) return undefined;
  return `must be the address in front of /v1, not that of one endpoint: ${withoutVersion({ origin: url.origin, pathname: base })}`;
}

function withoutVersion({ origin, pathname }: Pick<URL, 'origin' | 'pathname'>): string {
  const path = pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return origin + path.replace(/\/+$/, '');
}
