import { assemble } from './assemble.js';
import { readCertificates } from './certificates.js';
import { type Environment, gatherEnvironment } from './environment.js';
import { type Flags, gatherFlags } from './flags.js';
import { type FileAccess, openFile } from './open-file.js';
import { MASK, type SettingProblem } from './problem.js';
import { type Origin, type RawValue, type Reading, readValue } from './raw-value.js';
import type { Part } from './setting.js';
import type { Settings } from './settings.js';
import {
  environmentName,
  flagName,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  type Values,
} from './table.js';

/** Where settings come from. */
export interface LoadInput extends FileAccess {
  /** By flag, without its dashes: `{ upstream: 'http://127.0.0.1:8000', port: '0' }`. */
  readonly flags: Flags;
  readonly env: Environment;
  /** What is wrong with settings that are each valid by themselves. Not asked where one of the budget's is refused. */
  readonly checkBudget?: (settings: Settings, sources: Sources) => readonly SettingProblem[];
}

/** Where a setting's value came from. */
export interface Source {
  readonly origin: Origin;
  /** The setting as the user wrote it; `default` where nobody did. */
  readonly writtenAs: string;
  /** The value as it may be shown: secrets masked; `undefined` where the setting is not given and has no default. */
  readonly shown: string | undefined;
}

export type Sources = ReadonlyMap<SettingName, Source>;

export type Loaded =
  | {
      readonly ok: true;
      readonly settings: Settings;
      readonly sources: Sources;
      /** Readable, one sentence each. Nothing is wrong for sure. */
      readonly warnings: readonly string[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly SettingProblem[];
      readonly warnings: readonly string[];
    };

/** What was read of settings of which some may be refused. */
export interface Draft {
  /** In the place of each that is refused stands its default. */
  readonly settings: Settings;
  readonly sources: Sources;
  readonly problems: readonly SettingProblem[];
  readonly warnings: readonly string[];
  /** Where the problems are. */
  readonly refusedIn: ReadonlySet<Part>;
}

/** What the budget is worked out from. */
const BUDGET_PARTS: readonly Part[] = ['file', 'budget', 'context', 'compression', 'models'];

/** Merges flags, environment, file and defaults, in this order of precedence, and reports everything wrong at once. */
export function loadSettings(input: LoadInput): Loaded {
  return loadedFrom(draftSettings(input));
}

export function loadedFrom({ settings, sources, problems, warnings }: Draft): Loaded {
  return problems.length === 0
    ? { ok: true, settings, sources, warnings }
    : { ok: false, problems, warnings };
}

/** As `loadSettings`, for those who have more to check than single settings. */
export function draftSettings(input: LoadInput): Draft {
  const flags = gatherFlags(input.flags);
  const environment = gatherEnvironment(input.env);
  const file = openFile(flags.values.get('CONFIG') ?? environment.values.get('CONFIG'), input);
  const layers = [file.gathered, environment, flags];
  const raw = new Map(layers.flatMap((layer) => [...layer.values]));
  const refusedIn = new Set(layers.flatMap((layer) => [...layer.refusedIn]));
  const { values, sources, problems: refused } = readAll(raw, refusedIn);
  const ca = readCertificates(raw.get('UPSTREAM_CA'), values.UPSTREAM_CA, input);
  if (ca.problems.length > 0) refusedIn.add('upstream');
  const around = { cwd: input.cwd, ca: ca.pem, pluginsBase: file.base, blocks: file.blocks };
  const settings = assemble(values, around);
  const budgetIsSound = !BUDGET_PARTS.some((part) => refusedIn.has(part));
  const budget = budgetIsSound ? input.checkBudget?.(settings, sources) : undefined;
  return {
    settings,
    sources,
    problems: [...layers.flatMap((layer) => layer.problems), ...refused, ...ca.problems, ...(budget ?? [])],
    warnings: layers.flatMap((layer) => layer.warnings),
    refusedIn,
  };
}

/** Every setting read, with its default where it is not given or refused; adds to `refusedIn`. */
function readAll(
  raw: ReadonlyMap<SettingName, RawValue>,
  refusedIn: Set<Part>,
): { values: Values; sources: Sources; problems: SettingProblem[] } {
  const values: Partial<Record<SettingName, unknown>> = {};
  const sources = new Map<SettingName, Source>();
  const problems: SettingProblem[] = [];
  for (const name of SETTING_NAMES) {
    const setting = settingOf(name);
    const given = raw.get(name);
    const reading = given === undefined ? withoutValue(name, refusedIn) : readValue(setting, given);
    const value = 'value' in reading ? reading.value : setting.default;
    if ('problem' in reading) {
      problems.push(reading.problem);
      refusedIn.add(setting.section);
    }
    values[name] = value;
    sources.set(name, {
      origin: given?.origin ?? 'default',
      writtenAs: given?.writtenAs ?? 'default',
      shown: showValue(name, value, given !== undefined),
    });
  }
  return { values: values as Values, sources, problems };
}

/** A file that could not be read may hold what is required. */
function withoutValue(name: SettingName, refusedIn: ReadonlySet<Part>): Reading<unknown> {
  const setting = settingOf(name);
  if (setting.required !== true || refusedIn.has('file')) return { value: setting.default };
  return { problem: missing(name) };
}

function showValue(name: SettingName, value: unknown, given: boolean): string | undefined {
  const { secret, kind } = settingOf(name);
  if (secret === true) return given ? MASK : undefined;
  return value === undefined ? undefined : kind.show(value);
}

function missing(name: SettingName): SettingProblem {
  return {
    setting: `--${flagName(name)} (or ${environmentName(name)})`,
    value: '',
    rule: `must be given: ${settingOf(name).description}`,
    example: settingOf(name).example,
  };
}
