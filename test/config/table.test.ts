import { describe, expect, it } from 'vitest';
import { readValue } from '../../src/config/raw-value.js';
import { environmentName, flagName, SETTING_NAMES, settingOf } from '../../src/config/table.js';
import { MODEL_SETTINGS } from '../../src/config/table-context.js';

describe.each(SETTING_NAMES)('%s', (name) => {
  const setting = settingOf(name);

  it('has an example that works', () => {
    const isTable = setting.example.startsWith('{');
    const value = isTable ? { qwen3: 0.7 } : setting.example;
    expect(readValue(setting, { writtenAs: name, value })).toHaveProperty('value');
  });

  it('has a default that it would accept itself, or says what holds without', () => {
    if (setting.required === true || setting.unset !== undefined) return expect(setting.example).not.toBe('');
    const shown = setting.kind.show(setting.default);
    const value = shown.startsWith('{') ? JSON.parse(shown) : shown;
    expect(readValue(setting, { writtenAs: name, value })).toEqual({ value: setting.default });
  });

  it('is explained in whole sentences, and its rule says what it must be', () => {
    expect(setting.description).toMatch(/^[A-Z].*\.$/);
    expect(setting.kind.rule).toMatch(/^must /);
  });
});

it('gives every setting a flag and a variable of its own', () => {
  const aliases = SETTING_NAMES.flatMap((name) => settingOf(name).aliases ?? []);
  const variables = [...SETTING_NAMES.map(environmentName), ...aliases];
  expect(new Set(variables).size).toBe(variables.length);
  expect(new Set(SETTING_NAMES.map(flagName)).size).toBe(SETTING_NAMES.length);
  expect([flagName('UPSTREAM_URL'), flagName('DATA_DIR'), flagName('MIN_OUTPUT_TOKENS')]).toEqual([
    'upstream',
    'data',
    'min-output-tokens',
  ]);
});

it.each(Object.entries(MODEL_SETTINGS))('has an example that works for models.<id>.%s', (key, setting) => {
  expect(readValue<unknown>(setting, { writtenAs: key, value: setting.example })).toHaveProperty('value');
});
