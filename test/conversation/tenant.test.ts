import { expect, test } from 'vitest';
import { tenantOf } from '../../src/conversation/tenant.js';

const KEY = Buffer.alloc(32, 1);
const BY_HEADER = { kind: 'header', name: 'X-Tenant' } as const;
const CREDENTIAL = { kind: 'credential' } as const;
const from = (credential?: string, tenant?: string) => ({ credential, header: () => tenant });

test('knows a tenant by its credential, and tells no one the credential', () => {
  const ann = tenantOf(CREDENTIAL, from('Bearer ann'), KEY);
  expect(tenantOf(CREDENTIAL, from('Bearer ann', 'other'), KEY)).toBe(ann);
  expect(tenantOf(CREDENTIAL, from('Bearer bob'), KEY)).not.toBe(ann);
  expect(tenantOf(CREDENTIAL, from('Bearer ann'), Buffer.alloc(32, 2))).not.toBe(ann);
  expect(ann).toMatch(/^[\w-]{43}$/);
  expect(ann).not.toContain('ann');
});

test('knows a tenant by a header', () => {
  const a = tenantOf(BY_HEADER, from('Bearer ann', 'a'), KEY);
  expect(tenantOf(BY_HEADER, from('Bearer bob', 'a'), KEY)).toBe(a);
  expect(tenantOf(BY_HEADER, from('Bearer ann', 'b'), KEY)).not.toBe(a);
  expect(tenantOf(CREDENTIAL, from('a'), KEY)).not.toBe(a);
  expect(tenantOf({ kind: 'header', name: 'x-tenant' }, from(undefined, 'a'), KEY)).toBe(a);
});

test('keeps those without a credential to themselves', () => {
  const names = [undefined, '', 'Bearer ann', 'anonymous', 'none'].map((credential) =>
    tenantOf(CREDENTIAL, from(credential), KEY),
  );
  expect(names[1]).toBe(names[0]);
  expect(new Set(names).size).toBe(4);
});

test('takes all for one where there are no tenants', () => {
  const none = { kind: 'none' } as const;
  expect(tenantOf(none, from('Bearer ann'), KEY)).toBe(tenantOf(none, from(), KEY));
});

test('names stay the same after many others', () => {
  const ann = tenantOf(CREDENTIAL, from('Bearer ann'), KEY);
  for (let i = 0; i < 200; i += 1) tenantOf(CREDENTIAL, from(`Bearer ${i}`), KEY);
  expect(tenantOf(CREDENTIAL, from('Bearer ann'), KEY)).toBe(ann);
});
