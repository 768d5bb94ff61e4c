import type { Kind } from './kind.js';

export const SECTIONS = [
  'upstream',
  'server',
  'budget',
  'tokenizer',
  'context',
  'compression',
  'sessions',
] as const;
export type Section = (typeof SECTIONS)[number];

/** Top-level keys of the file beside the sections. */
export const FILE_BLOCKS = ['models', 'plugins', 'backends', 'engines'] as const;
/** Where something can be refused. `file`: it could not be read at all. */
export type Part = Section | (typeof FILE_BLOCKS)[number] | 'file';

/** Everything that is to be known about one setting. */
export interface Setting<T> {
  readonly section: Section;
  readonly kind: Kind<T>;
  readonly default: T;
  /** One or two sentences: what it does. */
  readonly description: string;
  /** A value that would work, as text. */
  readonly example: string;
  /** What holds while an optional setting is not given. */
  readonly unset?: string;
  /** Never shown. */
  readonly secret?: true;
  /** There is no default that could work. */
  readonly required?: true;
  /** Given in the file only, or anywhere but there. */
  readonly only?: 'file' | 'command';
  /** The flag's name without dashes, where it is not the setting's name in kebab-case. */
  readonly flag?: string;
  /** Older names in the environment, the preferred one first. */
  readonly aliases?: readonly string[];
}

/** A setting that always has a value. */
export function setting<T>(facts: Setting<T>): Setting<T> {
  return facts;
}

/** A setting that may be absent. */
export function optional<T>(
  facts: Omit<Setting<T>, 'default'> & { readonly unset: string },
): Setting<T | undefined> {
  // Its kind reads and shows values only: nothing asks it about an absent one.
  const kind = facts.kind as Kind<T | undefined>;
  return { ...facts, kind, default: undefined };
}
