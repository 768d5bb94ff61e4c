/** Hop-by-hop fields (RFC 9110, section 7.6.1, and what proxies use of RFC 9112): never passed on, either way. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Request fields that belong to this hop: undici sets or refuses them, or the proxy answers them itself. */
const OWN_REQUEST_FIELDS = new Set(['host', 'expect', 'content-length']);

/** Digests of a body that is not the one that was sent. */
const BODY_DIGESTS = new Set(['content-md5', 'digest', 'content-digest', 'repr-digest']);

const OWN_PREFIX = 'x-incontext-';

export interface RequestHeaderEdit {
  /** The upstream's `host` field. */
  readonly host: string;
  /** Replaces the client's `Authorization`; `null` removes it, `undefined` leaves it. */
  readonly authorization?: string | null | undefined;
  /** The body is not the client's: its digests no longer hold. */
  readonly rewritten?: boolean | undefined;
  /** Length of the body in bytes, where it is known. */
  readonly contentLength?: number | undefined;
  /** The answer must not be encoded. */
  readonly plain?: boolean | undefined;
}

/** @returns the end-to-end fields of a request as a flat list, names and order as the client sent them. */
export function upstreamRequestHeaders(raw: readonly string[], edit: RequestHeaderEdit): string[] {
  const named = connectionOptions(raw);
  const out: string[] = ['host', edit.host];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || OWN_REQUEST_FIELDS.has(lower) || named.has(lower)) continue;
    if (lower.startsWith(OWN_PREFIX)) continue;
    if (edit.rewritten === true && BODY_DIGESTS.has(lower)) continue;
    if (edit.plain === true && lower === 'accept-encoding') continue;
    if (lower === 'authorization' && edit.authorization !== undefined) continue;
    out.push(name, raw[i + 1] as string);
  }
  if (typeof edit.authorization === 'string') out.push('authorization', edit.authorization);
  if (edit.contentLength !== undefined) out.push('content-length', String(edit.contentLength));
  return out;
}

/**
 * @param ours fields of our own, added at the end; the upstream's own `x-incontext-*` are dropped for them.
 * @returns the end-to-end fields of an answer as a flat list, names and order as the upstream sent them.
 */
export function clientResponseHeaders(raw: readonly string[], ours: readonly string[] = []): string[] {
  const named = connectionOptions(raw);
  const out: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || named.has(lower)) continue;
    if (ours.length > 0 && lower.startsWith(OWN_PREFIX)) continue;
    out.push(name, raw[i + 1] as string);
  }
  out.push(...ours);
  return out;
}

/** The value of the first field of that name in a flat list. */
export function headerValue(raw: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if ((raw[i] as string).toLowerCase() === name) return raw[i + 1];
  }
  return undefined;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** The field names that `Connection` lists. */
function connectionOptions(raw: readonly string[]): ReadonlySet<string> {
  let names: Set<string> | undefined;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if ((raw[i] as string).toLowerCase() !== 'connection') continue;
    for (const part of (raw[i + 1] as string).split(',')) {
      const name = part.trim().toLowerCase();
      if (!TOKEN.test(name) || name === 'close' || name === 'keep-alive') continue;
      names ??= new Set();
      names.add(name);
    }
  }
  return names ?? NO_NAMES;
}

const NO_NAMES: ReadonlySet<string> = new Set();
