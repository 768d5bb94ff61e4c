import { nearest, suggestion } from './nearest.js';
import type { SettingProblem } from './problem.js';
import type { Gathered, RawValue } from './raw-value.js';
import { FILE_BLOCKS, type Part, SECTIONS, type Section } from './setting.js';
import { fileKey, SETTING_NAMES, type SettingName, settingOf, settingsIn } from './table.js';
import { isMapping, type Mapping } from './yaml-mapping.js';

const TOP_KEYS = [...SECTIONS, ...FILE_BLOCKS] as const;

/** What the sections of the file say. */
export function gatherFile(file: Mapping, path: string): Gathered {
  const values = new Map<SettingName, RawValue>();
  const problems: SettingProblem[] = [];
  const refusedIn = new Set<Part>();
  for (const [key, content] of Object.entries(file)) {
    const part = TOP_KEYS.find((each) => each === key);
    const known = problems.length;
    if (part === undefined) problems.push(unknownKey(`${key} in ${path}`, key, homeOf(key), TOP_KEYS));
    else if (isSection(part) && content !== null) {
      if (isMapping(content)) readSection(part, content, path, values, problems);
      else problems.push(notMapping(`${key} in ${path}`));
    }
    const meant = part ?? meantPart(key);
    if (problems.length > known && meant !== undefined) refusedIn.add(meant);
  }
  return { values, problems, refusedIn, warnings: [] };
}

/** Where what stands under a key that the file does not know probably belongs. */
function meantPart(key: string): Part | undefined {
  const setting = SETTING_NAMES.find((name) => fileKey(name) === key);
  if (setting !== undefined) return settingOf(setting).section;
  const close = nearest(key, TOP_KEYS);
  return TOP_KEYS.find((each) => each === close);
}

/** Refuses a key that the file does not know. The value is not shown: it may be a secret under a mistyped name. */
export function unknownKey(
  setting: string,
  key: string,
  home: string | undefined,
  known: readonly string[],
): SettingProblem {
  const hint = home === undefined ? suggestion(key, known) : `it belongs to ${home}`;
  return { setting, value: '', rule: `must be a known key: ${hint}`, example: '' };
}

/** Refuses a key that must hold a mapping. */
export function notMapping(setting: string): SettingProblem {
  return { setting, value: '', rule: 'must be a mapping of keys to values', example: '{}' };
}

/** Refuses a key without a value: an empty one would silently open what it was meant to guard. */
export function noValue(setting: string, example: string): SettingProblem {
  return { setting, value: '', rule: 'must have a value: give one, or remove the line', example };
}

function readSection(
  section: Section,
  content: Mapping,
  path: string,
  values: Map<SettingName, RawValue>,
  problems: SettingProblem[],
): void {
  const names = settingsIn(section).filter((name) => settingOf(name).only !== 'command');
  for (const [key, value] of Object.entries(content)) {
    const name = names.find((each) => fileKey(each) === key);
    const writtenAs = `${section}.${key} in ${path}`;
    if (name === undefined) problems.push(unknownKey(writtenAs, key, homeOf(key), names.map(fileKey)));
    else if (value === null) problems.push(noValue(writtenAs, settingOf(name).example));
    else values.set(name, { origin: 'file', writtenAs, value });
  }
}

function isSection(key: Part): key is Section {
  return (SECTIONS as readonly string[]).includes(key);
}

/** `server.port` for `port`: where a key that stands in the wrong place belongs. */
function homeOf(key: string): string | undefined {
  const name = SETTING_NAMES.find((each) => fileKey(each) === key);
  if (name === undefined) return undefined;
  const { only, section } = settingOf(name);
  return only === 'command' ? 'the command line or the environment' : `${section}.${key}`;
}
