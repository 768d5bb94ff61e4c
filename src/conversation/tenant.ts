import { createHmac } from 'node:crypto';
import type { Tenant } from '../config/settings.js';

/** What tells tenants apart in a request. */
export interface TenantClues {
  /** The value of `Authorization`. */
  readonly credential: string | undefined;
  header(name: string): string | undefined;
}

/** All requests are one tenant's. */
const EVERYONE = 'none';
/** Those that bring no credential, or not that header: they are a tenant of their own. */
const ANONYMOUS = 'anonymous';
const MOST_REMEMBERED = 64;

const remembered = new WeakMap<Buffer, Map<string, string>>();

/**
 * Whose request it is: a keyed hash, so that whoever reads the store learns no credential from it.
 * @param key the store's secret. Names are remembered for as long as that very Buffer lives.
 */
export function tenantOf(tenant: Tenant, request: TenantClues, key: Buffer): string {
  if (tenant.kind === 'none') return EVERYONE;
  const isHeader = tenant.kind === 'header';
  const value = isHeader ? request.header(tenant.name) : request.credential;
  if (value === undefined || value === '') return ANONYMOUS;
  const source = isHeader ? `header:${tenant.name.toLowerCase()}` : 'credential';
  return rememberedName(`${source}\n${value}`, key);
}

function rememberedName(clue: string, key: Buffer): string {
  const names = remembered.get(key) ?? new Map<string, string>();
  remembered.set(key, names);
  const name = names.get(clue) ?? createHmac('sha256', key).update(clue).digest('base64url');
  names.delete(clue);
  names.set(clue, name);
  if (names.size > MOST_REMEMBERED) names.delete(names.keys().next().value as string);
  return name;
}
