import { describe, expect, test } from 'vitest';
import { defaultText } from '../../src/cli/help.js';
import { SECTIONS } from '../../src/config/setting.js';
import {
  environmentName,
  fileKey,
  flagName,
  SETTING_NAMES,
  type SettingName,
  settingOf,
  settingsIn,
} from '../../src/config/table.js';
import { MODEL_SETTINGS } from '../../src/config/table-context.js';
import { readSettings } from '../../src/engines/compressor/settings.js';
import { readPage, tableRows } from './support/markdown.js';

const page = readPage('docs/settings.md');

/** The text between a heading and the next one, on one line. */
function below(heading: string): string {
  const at = page.headings.findIndex(({ text }) => text === heading);
  const start = page.headings[at]?.line ?? 0;
  const end = (page.headings[at + 1]?.line ?? page.lines.length + 1) - 1;
  return page.lines.slice(start, end).join('\n').replace(/\s+/g, ' ').trim();
}

/** What the page has to say of a setting, as it stands there. */
function facts(name: SettingName): string[] {
  const { kind, only, section, aliases = [], description } = settingOf(name);
  const flag = [`Flag: \`--${flagName(name)}\`.`, `Environment: \`${environmentName(name)}\`.`];
  const file = `File: \`${section}.${fileKey(name)}\`.`;
  const names = [...(only === 'file' ? [] : flag), ...(only === 'command' ? [] : [file])];
  return [
    description,
    `- ${defaultText(name)}`,
    `- Range: ${rangeOf(kind.rule)}.`,
    `- ${names.join(' ')}`,
    ...(fileKey(name) in MODEL_SETTINGS ? [`- For one model: \`models.<id>.${fileKey(name)}\`.`] : []),
    ...(aliases.length > 0 ? [`- Older name: \`${aliases.join('`, `')}\`.`] : []),
  ];
}

function rangeOf(rule: string): string {
  return rule.replace(/^must (be )?/, '');
}

test('has a heading for every setting, in the order of the table, under its section', () => {
  const blocks = ['models', 'plugins', 'backends', 'engines'];
  const expected = SECTIONS.flatMap((section) => [section, ...settingsIn(section).map(fileKey)]);
  const headings = page.headings.filter(({ level }) => level > 1).map(({ text }) => text);
  expect(headings).toEqual([...expected, ...blocks]);
});

describe.each(SETTING_NAMES)('%s', (name) => {
  test('is described as the program describes it: meaning, default, range and names', () => {
    const text = below(fileKey(name));
    for (const fact of facts(name)) expect(text).toContain(fact);
    expect(text.startsWith(settingOf(name).description)).toBe(true);
  });
});

test('says everything that can differ for one model', () => {
  const expected = Object.entries(MODEL_SETTINGS).map(([key, { kind }]) => [key, rangeOf(kind.rule)]);
  expect(tableRows(page, 'models')).toEqual(expected);
});

test('says every setting of the bundled engine, with its default', () => {
  const expected = Object.entries(readSettings({})).map(([key, value]) => [key, String(value)]);
  expect(tableRows(page, 'engines').map(([key, value]) => [key, value])).toEqual(expected);
});

test('says the range of every setting of the bundled engine: its ends are taken, and nothing beyond them', () => {
  const takes = (key: string, value: number) => {
    try {
      readSettings({ [key]: value });
      return true;
    } catch {
      return false;
    }
  };
  for (const [key = '', , range = ''] of tableRows(page, 'engines')) {
    const [, above, least, most] = /^(above )?(\d+) to ([\d.]+)$/.exec(range) ?? [];
    expect(takes(key, Number(least)), key).toBe(above === undefined);
    expect(takes(key, above === undefined ? Number(least) - 1 : 0.001), key).toBe(above !== undefined);
    expect(takes(key, Number(most)), key).toBe(true);
    expect(takes(key, Number(most) + (above === undefined ? 1 : 0.001)), key).toBe(false);
  }
});
