import { isIP } from 'node:net';
import { z } from 'zod';
import type { Kind } from './kind.js';
import { pythonInt, strip } from './python-number.js';
import type { IdSource, Tenant } from './settings.js';

/** What a kind of text says of itself. `read` gives the value of a stripped text, or refuses with `undefined`. */
interface TextFacts<T> {
  readonly rule: string;
  readonly placeholder: string;
  read(text: string): T | undefined;
  show?(value: T): string;
}

/** A kind whose values are written as text, and never blank. */
function textKind<T>({ rule, placeholder, read, show = String }: TextFacts<T>): Kind<T> {
  const schema = z.string().transform((text, context): T => {
    const bare = strip(text);
    const value = bare === '' ? undefined : read(bare);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: bare === '' ? `must not be blank: it ${rule}` : rule });
    return z.NEVER;
  });
  return { schema, fromText: (text) => text, rule, show, placeholder };
}

/** Text that is not blank, white space at its ends dropped. */
export const text = textKind({
  rule: 'must be text',
  placeholder: 'TEXT',
  read: (value): string | undefined => value,
});

/** A header's value. Other characters would be refused by the HTTP client, on every request. */
export const headerValue = textKind({
  rule: 'must be text of visible Latin characters, without line breaks',
  placeholder: 'TEXT',
  read: (value) => (/^[\t\x20-\x7e\xa0-\xff]+$/.test(value) ? value : undefined),
});

/** A path on this machine; a relative one starts at the working directory. */
export const path: Kind<string> = { ...text, rule: 'must be a path', placeholder: 'PATH' };

const VISIBLE = /^[\x21-\x7e]+$/;

/** A credential that goes into an `Authorization` header. */
export const credential = textKind({
  rule: 'must be visible ASCII characters without white space',
  placeholder: 'KEY',
  read: (value) => (VISIBLE.test(value) ? value : undefined),
});

const KEYS_RULE =
  'must be keys of visible ASCII characters separated by commas, at least one, none of them empty';
const keyList = z.array(z.string().regex(/^[\x21-\x2b\x2d-\x7e]+$/)).min(1);

export const credentials: Kind<readonly string[]> = {
  schema: z
    .preprocess((value) => (typeof value === 'string' ? value.split(',').map(strip) : value), keyList)
    .meta({ type: ['array', 'string'] }),
  fromText: (value) => value,
  rule: KEYS_RULE,
  show: (keys) => keys.join(','),
  placeholder: 'KEYS',
};

export const host = textKind({
  rule: 'must be a host name or an IP address, without a port',
  placeholder: 'ADDRESS',
  read: (value) => {
    const bare = value.replace(/^\[(.*)\]$/, '$1');
    return isIP(bare) !== 0 || /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i.test(bare) ? bare : undefined;
  },
});

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

export const tenant = textKind({
  rule: 'must be credential, none, or header:NAME',
  placeholder: 'TENANT',
  read: (value): Tenant | undefined => {
    if (value === 'credential' || value === 'none') return { kind: value };
    const name = /^header:(.*)$/i.exec(value)?.[1]?.toLowerCase();
    return name !== undefined && HEADER_NAME.test(name) ? { kind: 'header', name } : undefined;
  },
  show: (value) => (value.kind === 'header' ? `header:${value.name}` : value.kind),
});

/** Where in a request an id stands. */
export const idSource = textKind({
  rule: 'must be header:NAME or body:FIELD',
  placeholder: 'SOURCE',
  read: (value): IdSource | undefined => {
    const [, kind = '', name = ''] = /^(header|body):(.+)$/i.exec(value) ?? [];
    if (kind.toLowerCase() === 'body') return { kind: 'body', name };
    const header = name.toLowerCase();
    return HEADER_NAME.test(header) ? { kind: 'header', name: header } : undefined;
  },
  show: ({ kind, name }) => `${kind}:${name}`,
});

const UNITS = new Map([
  ['', 1],
  ['b', 1],
  ['kb', 1000],
  ['kib', 2 ** 10],
  ['mb', 1e6],
  ['mib', 2 ** 20],
  ['gb', 1e9],
  ['gib', 2 ** 30],
]);

/** Bytes: a number, or a number with a unit (`64MiB`, `10 MB`). */
export const byteSize: Kind<number> = {
  schema: z
    .number()
    .min(1)
    .refine(Number.isSafeInteger)
    .meta({ type: ['integer', 'string'] }),
  fromText: (value) => {
    const [, digits = '', unit = ''] = /^(.*?)([a-z]*)$/is.exec(strip(value)) ?? [];
    const factor = UNITS.get(unit.toLowerCase());
    const count = pythonInt(digits);
    return count === undefined || factor === undefined ? undefined : count * factor;
  },
  rule: 'must be a positive number of bytes, or one with a unit such as KiB, MiB or GiB',
  placeholder: 'BYTES',
  show: (value) => (value % 2 ** 20 === 0 ? `${value / 2 ** 20}MiB` : String(value)),
};

/** Days, as a number or as `30d`. */
export const days: Kind<number> = {
  schema: z
    .number()
    .min(1)
    .refine(Number.isInteger)
    .meta({ type: ['integer', 'string'] }),
  fromText: (value) => pythonInt(strip(value).replace(/d$/i, '')),
  rule: 'must be a positive number of days, such as 30d',
  show: (value) => `${value}d`,
  placeholder: 'DAYS',
};
