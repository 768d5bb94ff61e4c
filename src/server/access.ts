import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Settings } from '../config/settings.js';
import type { OwnErrorCode } from '../stream/own-error.js';

const OWN_ROOT = '/incontext/';
const OPEN_TO_ALL = new Set(['/incontext/live', '/incontext/ready']);

/** Who may use what (design, section 10). */
export class Access {
  readonly #keys: readonly Buffer[];
  readonly #adminToken: Buffer | undefined;
  readonly #upstreamAuthorization: string | null | undefined;

  constructor(settings: Settings) {
    const { apiKeys, adminToken } = settings.server;
    this.#keys = apiKeys.map(digest);
    this.#adminToken = adminToken === undefined ? undefined : digest(adminToken);
    const { apiKey } = settings.upstream;
    // A key of the proxy's own is no credential upstream.
    this.#upstreamAuthorization =
      apiKey === undefined ? (apiKeys.length > 0 ? null : undefined) : `Bearer ${apiKey}`;
  }

  /** @returns the error to answer with, `undefined` where the request may pass. `path` has no query. */
  refuse(request: IncomingMessage, path: string): OwnErrorCode | undefined {
    if (!path.startsWith(OWN_ROOT)) {
      if (this.#keys.length === 0 || request.method === 'OPTIONS') return undefined;
      return this.#hasKey(request) ? undefined : 'invalid_api_key';
    }
    if (OPEN_TO_ALL.has(path)) return undefined;
    if (path === '/incontext/metrics') {
      return this.#keys.length === 0 || this.#hasKey(request) ? undefined : 'invalid_api_key';
    }
    return this.#refuseAdministration(request);
  }

  /** What the `Authorization` upstream has to be: `undefined` the client's own, `null` none. */
  get upstreamAuthorization(): string | null | undefined {
    return this.#upstreamAuthorization;
  }

  /** The `Authorization` that this request has upstream. */
  credentialOf(request: IncomingMessage): string | undefined {
    const own = this.#upstreamAuthorization;
    return own === undefined ? request.headers.authorization : (own ?? undefined);
  }

  #refuseAdministration(request: IncomingMessage): OwnErrorCode | undefined {
    if (this.#adminToken !== undefined) {
      return matches(bearer(request), [this.#adminToken]) ? undefined : 'admin_only';
    }
    if (this.#keys.length > 0) return this.#hasKey(request) ? undefined : 'invalid_api_key';
    return isLocal(request) ? undefined : 'admin_only';
  }

  #hasKey(request: IncomingMessage): boolean {
    return matches(bearer(request), this.#keys);
  }
}

/** A loopback peer that no proxy stands in front of. */
function isLocal(request: IncomingMessage): boolean {
  const address = request.socket.remoteAddress ?? '';
  const isLoopback = address === '::1' || /^(::ffff:)?127\./.test(address);
  return isLoopback && !Object.keys(request.headers).some(tellsOfForwarding);
}

function tellsOfForwarding(name: string): boolean {
  return name.startsWith('x-forwarded') || name === 'forwarded' || name === 'via' || name === 'x-real-ip';
}

function bearer(request: IncomingMessage): string | undefined {
  return /^bearer +(.+)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim();
}

function matches(secret: string | undefined, allowed: readonly Buffer[]): boolean {
  if (secret === undefined) return false;
  const sent = digest(secret);
  return allowed.reduce((found, one) => timingSafeEqual(sent, one) || found, false);
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
