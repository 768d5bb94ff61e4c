import { type SettingProblem, showRefused } from './problem.js';
import type { Setting } from './setting.js';
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
  readonly warnings: readonly string[];
}

export type Reading<T> = { readonly value: T } | { readonly problem: SettingProblem };

/** Reads a raw value by its setting's kind. */
export function readValue<T>(
  { kind, example, secret }: Pick<Setting<T>, 'kind' | 'example' | 'secret'>,
  { writtenAs, value }: Pick<RawValue, 'writtenAs' | 'value'>,
): Reading<T> {
  const read = kind.schema.safeParse(typeof value === 'string' ? kind.fromText(value) : value);
  if (read.success) return { value: read.data };
  const exact = read.error.issues.find((issue) => issue.code === 'custom' && issue.path.length === 0);
  const rule = exact?.message.startsWith('must') === true ? exact.message : kind.rule;
  return { problem: { setting: writtenAs, value: showRefused(value, secret === true), rule, example } };
}
