import type { Source, Sources } from '../config/load.js';
import { SECTIONS, type Section } from '../config/setting.js';
import type { Settings } from '../config/settings.js';
import { fileKey, type SettingName, settingOf, settingsIn } from '../config/table.js';

interface Row {
  readonly key: string;
  readonly value: string;
  /** Where the value came from; `''` for a default. */
  readonly from: string;
}

/** Sections that do nothing without an engine. */
const ENGINE_SECTIONS: readonly Section[] = ['compression', 'sessions'];
// A longer value pushes its own origin to the right, not everybody's.
const WIDEST_VALUE = 34;

/** What is in force, as one block of text without a final line break: by section, aligned, secrets masked. */
export function formatSummary(settings: Settings, sources: Sources): string {
  const groups = SECTIONS.map((section) => [section, sectionRows(section, settings, sources)] as const);
  const all = [...groups, ['others', pluginRows(settings)] as const].filter(([, rows]) => rows.length > 0);
  const rows = all.flatMap(([, each]) => each);
  const keyWidth = Math.max(...rows.map(({ key }) => key.length));
  const valueWidth = Math.min(WIDEST_VALUE, Math.max(...rows.map(({ value }) => value.length)));
  const line = ({ key, value, from }: Row) =>
    `  ${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}  ${from}`.trimEnd();
  return all.map(([title, each]) => [title, ...each.map(line)].join('\n')).join('\n');
}

function sectionRows(section: Section, settings: Settings, sources: Sources): Row[] {
  const quiet = settings.context.engine === 'none' && ENGINE_SECTIONS.includes(section);
  return settingsIn(section).flatMap((name) => {
    const source = sources.get(name);
    return source === undefined || (quiet && source.origin === 'default') ? [] : [settingRow(name, source)];
  });
}

function settingRow(name: SettingName, { origin, writtenAs, shown }: Source): Row {
  const { unset } = settingOf(name);
  const value = shown === undefined ? `(${unset ?? 'none'})` : shown || '(none)';
  return { key: fileKey(name), value, from: origin === 'default' ? '' : `from ${writtenAs}` };
}

/** Names only: what stands in a plugin's block is the plugin's, and may be secret. */
function pluginRows({ models, plugins, backends, engines }: Settings): Row[] {
  const lists = {
    models: [...models.keys()],
    plugins,
    backends: [...backends.keys()],
    engines: [...engines.keys()],
  };
  return Object.entries(lists)
    .filter(([, names]) => names.length > 0)
    .map(([key, names]) => ({ key, value: names.join(', '), from: 'from the file' }));
}
