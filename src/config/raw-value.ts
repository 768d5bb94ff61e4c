import type { Kind } from './kind.js';
import { type SettingProblem, showRefused } from './problem.js';
import type { Part, Setting } from './setting.js';
import type { SettingName } from './table.js';

export type Origin = 'flag' | 'environment' | 'file' | 'default';

/** A value as one origin gave it, not read yet. */
export interface RawValue {
  readonly origin: Exclude<Origin, 'default'>;
  /** The setting as the user wrote it: `--port`, `INCONTEXT_PORT`, `server.port in incontext.yaml`. */
  readonly writtenAs: string;
  readonly value: unknown;
}

/** What one origin gave. */
export interface Gathered {
  readonly values: ReadonlyMap<SettingName, RawValue>;
  readonly problems: readonly SettingProblem[];
  /** Where the problems are. */
  readonly refusedIn: ReadonlySet<Part>;
  readonly warnings: readonly string[];
}

export type Reading<T> = { readonly value: T } | { readonly problem: SettingProblem };

/** Reads a raw value by its setting's kind. */
export function readValue<T>(
  { kind, example, secret }: Pick<Setting<T>, 'kind' | 'example' | 'secret'>,
  { writtenAs, value }: Pick<RawValue, 'writtenAs' | 'value'>,
): Reading<T> {
  const read = parse(kind, value);
  if (read.success) return { value: read.data };
  const custom = read.error.issues.find(
    (issue) => issue.code === 'custom' && issue.message.startsWith('must'),
  );
  const rule = (custom?.message ?? kind.rule) + (wantsQuotes(kind, value) ? '; put it in quotes' : '');
  return { problem: { setting: writtenAs, value: showRefused(value, secret === true), rule, example } };
}

function parse<T>({ schema, fromText }: Kind<T>, value: unknown) {
  return schema.safeParse(typeof value === 'string' ? fromText(value) : value);
}

/** YAML reads an unquoted `123` as a number, where a text such as a key is meant. */
function wantsQuotes<T>(kind: Kind<T>, value: unknown): boolean {
  return (typeof value === 'number' || typeof value === 'boolean') && parse(kind, String(value)).success;
}
