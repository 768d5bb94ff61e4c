/** A request target as the proxy works with it. */
export interface RequestPath {
  /** Path and query as the client wrote them, without origin and configured prefix. */
  readonly target: string;
  /** Without the query, decoded as a router does: for comparisons only. */
  readonly pathname: string;
  /** True where a router or a URL parser would refuse or rewrite it: forward it as it is. */
  readonly odd: boolean;
}

const PLAIN = /^(\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]*)+$/;
const REWRITTEN_BY_PARSERS = /\/\/|\/\.{1,2}(?:\/|$)|[\\?#]/;

/**
 * Reads a request target (RFC 9112, section 3.2).
 * @param prefix `''`, or the path that clients' paths may start with.
 */
export function readRequestPath(url: string, prefix: string): RequestPath {
  const target = withoutPrefix(withoutOrigin(url), prefix);
  const query = target.indexOf('?');
  const written = query < 0 ? target : target.slice(0, query);
  return { target, pathname: decoded(written), odd: isOdd(written) };
}

function withoutOrigin(url: string): string {
  if (url.startsWith('/')) return url;
  const path = /^https?:\/\/[^/?#]*(.*)$/i.exec(url)?.[1] ?? `/${url}`;
  return path.startsWith('/') ? path : `/${path}`;
}

function withoutPrefix(path: string, prefix: string): string {
  if (prefix === '' || !path.startsWith(prefix)) return path;
  const rest = path.slice(prefix.length);
  if (rest === '') return '/';
  if (rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : path;
}

function decoded(pathname: string): string {
  try {
    return decodeURI(pathname);
  } catch {
    return pathname;
  }
}

function isOdd(pathname: string): boolean {
  if (!PLAIN.test(pathname)) return true;
  try {
    return REWRITTEN_BY_PARSERS.test(decodeURIComponent(pathname));
  } catch {
    return true;
  }
}
