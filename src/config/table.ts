import type { Section, Setting } from './setting.js';
import { CONTEXT_SETTINGS } from './table-context.js';
import { NETWORK_SETTINGS } from './table-network.js';
import { SESSION_SETTINGS } from './table-sessions.js';

/** Every setting, by its name. The file's keys, the flags, the help and the defaults follow from here. */
export const SETTINGS = { ...NETWORK_SETTINGS, ...CONTEXT_SETTINGS, ...SESSION_SETTINGS };

export type SettingName = keyof typeof SETTINGS;
/** A value for every setting. */
export type Values = {
  readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never;
};

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

export function settingOf(name: SettingName): Setting<unknown> {
  return SETTINGS[name] as Setting<unknown>;
}

/** `INCONTEXT_PORT`. */
export function environmentName(name: SettingName): string {
  return `INCONTEXT_${name}`;
}

/** `port`: the key in the file's section. */
export function fileKey(name: SettingName): string {
  return name.toLowerCase();
}

/** `port`: the flag without its dashes. */
export function flagName(name: SettingName): string {
  return settingOf(name).flag ?? name.toLowerCase().replaceAll('_', '-');
}

/** The settings of one section, in the table's order. */
export function settingsIn(section: Section): SettingName[] {
  return SETTING_NAMES.filter((name) => SETTINGS[name].section === section);
}
