import { nearest } from './nearest.js';
import { type SettingProblem, showRefused } from './problem.js';
import type { Gathered, RawValue } from './raw-value.js';
import type { Part } from './setting.js';
import { environmentName, fileKey, SETTING_NAMES, type SettingName, settingOf } from './table.js';

export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = /^INCONTEXT_/i;

/** What the environment says. Names count in any case; a primary name hides its aliases, however bad they are. */
export function gatherEnvironment(environment: Environment): Gathered {
  const spellings = bySpelling(environment);
  const values = new Map<SettingName, RawValue>();
  const problems: SettingProblem[] = [];
  const refusedIn = new Set<Part>();
  for (const name of SETTING_NAMES) {
    if (settingOf(name).only === 'file') continue;
    const names = [environmentName(name), ...(settingOf(name).aliases ?? [])];
    const found = names.map((each) => spellings.get(each)).find((each) => each !== undefined);
    if (found === undefined) continue;
    const [[writtenAs, value]] = found;
    values.set(name, { origin: 'environment', writtenAs, value });
    if (new Set(found.map(([, each]) => each)).size === 1) continue;
    problems.push(twoSpellings(name, found));
    refusedIn.add(settingOf(name).section);
  }
  return { values, problems, refusedIn, warnings: unknownVariables(Object.keys(environment)) };
}

type Spelled = [writtenAs: string, value: string];

function bySpelling(environment: Environment): Map<string, [Spelled, ...Spelled[]]> {
  const spellings = new Map<string, [Spelled, ...Spelled[]]>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    const same = spellings.get(name.toUpperCase());
    if (same === undefined) spellings.set(name.toUpperCase(), [[name, value]]);
    else same.push([name, value]);
  }
  return spellings;
}

function twoSpellings(name: SettingName, found: readonly Spelled[]): SettingProblem {
  const { secret, example } = settingOf(name);
  return {
    setting: found.map(([each]) => each).join(' and '),
    value: found.map(([, value]) => showRefused(value, secret === true)).join(' and '),
    rule: 'must not be given twice: these names are spelled the same way when capitalized, and their values differ',
    example,
  };
}

function unknownVariables(names: readonly string[]): string[] {
  const known = SETTING_NAMES.filter((name) => settingOf(name).only !== 'file');
  return names
    .filter((name) => PREFIX.test(name))
    .map((name) => name.toUpperCase().replace(PREFIX, ''))
    .filter((name) => !(known as string[]).includes(name))
    .map((name) => `INCONTEXT_${name} is ignored: ${hint(name, known)}`);
}

function hint(name: string, known: readonly SettingName[]): string {
  const fileOnly = SETTING_NAMES.find((each) => each === name);
  if (fileOnly !== undefined) {
    return `${settingOf(fileOnly).section}.${fileKey(fileOnly)} is given in the configuration file`;
  }
  const close = nearest(name, known);
  return close === undefined ? 'there is no such setting' : `did you mean INCONTEXT_${close}?`;
}
