import { z } from 'zod';
import type { Kind } from './kind.js';
import { strip } from './python-number.js';

const PREFIX_RULE = 'must be a path that starts with a slash, such as /llm, without a query';
const PREFIX = /^(\/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)+$/;

/** `''` where there is no prefix, else a path with a slash at its start and none at its end. */
export const pathPrefix: Kind<string> = {
  schema: z.string().transform((value, context) => {
    const path = strip(value).replace(/\/$/, '');
    const refusal = prefixRefusal(path);
    if (refusal === undefined) return path;
    context.addIssue({ code: 'custom', message: refusal });
    return z.NEVER;
  }),
  fromText: (value) => value,
  rule: PREFIX_RULE,
  show: String,
  placeholder: 'PATH',
};

function prefixRefusal(path: string): string | undefined {
  if (path === '') return undefined;
  if (/^\/(.*\/)?$/.test(path) || path.includes('//'))
    return 'must not have an empty part between two slashes';
  if (!PREFIX.test(path)) return PREFIX_RULE;
  const parts = path.slice(1).split('/').map(decoded);
  if (parts.includes(undefined)) return 'must not have a % that starts no encoded character';
  if (parts.some((part) => part === '.' || part === '..')) {
    return 'must not have . or .. between its slashes: clients resolve them, and never send such a path';
  }
  // Clients' paths without the prefix work too: they would lose a part that they need.
  if (parts[0] === 'v1')
    return 'must not begin with /v1: the path of every API call does, also without a prefix';
  if (parts[0] === 'incontext') return "must not begin with /incontext: the proxy's own endpoints are there";
  return undefined;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
