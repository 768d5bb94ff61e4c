import { dirname, resolve } from 'node:path';
import { assemble } from './assemble.js';
import { type Environment, gatherEnvironment } from './environment.js';
import { gatherFile } from './file.js';
import { type Blocks, readBlocks } from './file-blocks.js';
import { type Flags, gatherFlags } from './flags.js';
import { MASK, type SettingProblem } from './problem.js';
import { type Gathered, type Origin, type RawValue, readValue } from './raw-value.js';
import type { Section } from './setting.js';
import type { Settings } from './settings.js';
import {
  environmentName,
  flagName,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  type Values,
} from './table.js';
import { type Mapping, readYaml } from './yaml-mapping.js';

/** Where settings come from. */
export interface LoadInput {
  /** By flag, without its dashes: `{ upstream: 'http://127.0.0.1:8000', port: '0' }`. */
  readonly flags: Flags;
  readonly env: Environment;
  /** The text of a file. Throws where there is none. */
  readonly readFile: (path: string) => string;
  /** Relative paths start here. */
  readonly cwd: string;
  /** What is wrong with settings that are each valid by themselves. Not asked where one of the budget's is refused. */
  readonly checkBudget?: (settings: Settings) => readonly SettingProblem[];
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

/** The sections that the budget is worked out from. */
const BUDGET_SECTIONS: readonly Section[] = ['budget', 'context', 'compression'];

/** Merges flags, environment, file and defaults, in this order of precedence, and reports everything wrong at once. */
export function loadSettings(input: LoadInput): Loaded {
  const flags = gatherFlags(input.flags);
  const environment = gatherEnvironment(input.env);
  const file = openFile(flags.values.get('CONFIG') ?? environment.values.get('CONFIG'), input);
  const layers = [file.gathered, environment, flags];
  const raw = new Map(layers.flatMap((layer) => [...layer.values]));
  const { values, sources, problems: refused, refusedIn } = readAll(raw);
  const ca = readCertificates(raw.get('UPSTREAM_CA'), values.UPSTREAM_CA, input);
  const warnings = layers.flatMap((layer) => layer.warnings);
  const unreadable = [...file.problems, ...layers.flatMap((layer) => layer.problems)];
  const problems = [...unreadable, ...refused, ...ca.problems];
  const around = { cwd: input.cwd, ca: ca.pem, pluginsBase: file.base, blocks: file.blocks };
  const settings = assemble(values, around);
  const budgetIsSound = unreadable.length === 0 && !BUDGET_SECTIONS.some((section) => refusedIn.has(section));
  if (budgetIsSound) problems.push(...(input.checkBudget?.(settings) ?? []));
  return problems.length === 0
    ? { ok: true, settings, sources, warnings }
    : { ok: false, problems, warnings };
}

interface OpenFile {
  readonly gathered: Gathered;
  readonly blocks: Blocks;
  /** The folder that the file's plugins are resolved from. */
  readonly base: string;
  readonly problems: readonly SettingProblem[];
}

function openFile(config: RawValue | undefined, { readFile, cwd }: LoadInput): OpenFile {
  if (config === undefined || String(config.value).trim() === '') return useFile({}, '', cwd, []);
  const path = String(config.value).trim();
  const base = dirname(resolve(cwd, path));
  let text: string;
  try {
    text = readFile(resolve(cwd, path));
  } catch (error) {
    const rule = `must name a readable file: ${errorCode(error)}`;
    const problem = { setting: config.writtenAs, value: path, rule, example: 'incontext.yaml' };
    return useFile({}, path, base, [problem]);
  }
  const yaml = readYaml(text, path);
  return 'problems' in yaml ? useFile({}, path, base, yaml.problems) : useFile(yaml.mapping, path, base, []);
}

function useFile(
  mapping: Mapping,
  path: string,
  base: string,
  problems: readonly SettingProblem[],
): OpenFile {
  const { blocks, problems: wrongBlocks } = readBlocks(mapping, path);
  return { gathered: gatherFile(mapping, path), blocks, base, problems: [...problems, ...wrongBlocks] };
}

/** Every setting read, with its default where it is not given or refused. */
function readAll(raw: ReadonlyMap<SettingName, RawValue>): {
  values: Values;
  sources: Sources;
  problems: SettingProblem[];
  refusedIn: Set<Section>;
} {
  const values: Partial<Record<SettingName, unknown>> = {};
  const sources = new Map<SettingName, Source>();
  const problems: SettingProblem[] = [];
  const refusedIn = new Set<Section>();
  for (const name of SETTING_NAMES) {
    const setting = settingOf(name);
    const given = raw.get(name);
    if (given === undefined && setting.required === true) problems.push(missing(name));
    const reading = given === undefined ? { value: setting.default } : readValue(setting, given);
    if ('problem' in reading) {
      problems.push(reading.problem);
      refusedIn.add(setting.section);
    }
    const value = 'value' in reading ? reading.value : setting.default;
    values[name] = value;
    sources.set(name, {
      origin: given?.origin ?? 'default',
      writtenAs: given?.writtenAs ?? 'default',
      shown: showValue(name, value, given !== undefined),
    });
  }
  return { values: values as Values, sources, problems, refusedIn };
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

function readCertificates(
  given: RawValue | undefined,
  path: string | undefined,
  { readFile, cwd }: LoadInput,
): { pem: string | undefined; problems: SettingProblem[] } {
  if (given === undefined || path === undefined) return { pem: undefined, problems: [] };
  const refuse = (rule: string) => ({
    pem: undefined,
    problems: [{ setting: given.writtenAs, value: path, rule, example: settingOf('UPSTREAM_CA').example }],
  });
  try {
    const pem = readFile(resolve(cwd, path));
    if (/-----BEGIN (TRUSTED )?CERTIFICATE-----/.test(pem)) return { pem, problems: [] };
    return refuse('must name a PEM file with at least one certificate');
  } catch (error) {
    return refuse(`must name a readable PEM file: ${errorCode(error)}`);
  }
}

/** `ENOENT`: the error's own text would repeat the path. */
function errorCode(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'it could not be read';
}
