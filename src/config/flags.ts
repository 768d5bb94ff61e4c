import type { Gathered } from './raw-value.js';
import { flagName, SETTING_NAMES, settingOf } from './table.js';

/** Values by flag, without its dashes: `{ port: '0', 'upstream-insecure': 'true' }`. */
export type Flags = Readonly<Record<string, string>>;

/** What the command line says. Flags that are no setting are for the parser of the command line to refuse. */
export function gatherFlags(flags: Flags): Gathered {
  const values = new Map(
    SETTING_NAMES.filter(
      (name) => settingOf(name).only !== 'file' && Object.hasOwn(flags, flagName(name)),
    ).map((name) => [
      name,
      { origin: 'flag', writtenAs: `--${flagName(name)}`, value: flags[flagName(name)] } as const,
    ]),
  );
  return { values, problems: [], refusedIn: new Set(), warnings: [] };
}
