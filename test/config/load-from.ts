import type { Environment } from '../../src/config/environment.js';
import type { Flags } from '../../src/config/flags.js';
import { type Loaded, loadSettings } from '../../src/config/load.js';
import type { Settings } from '../../src/config/settings.js';

/** The origins that a test fills. Without flags the upstream is given; `yaml` is the file `incontext.yaml`. */
export interface Origins {
  readonly flags?: Flags;
  readonly env?: Environment;
  readonly yaml?: string;
  readonly files?: Readonly<Record<string, string>>;
}

const UPSTREAM = { upstream: 'http://127.0.0.1:8000' };

/** Loads the settings with `/srv` as the working directory. */
export function loadFrom({ flags = {}, env = {}, yaml, files = {} }: Origins): Loaded {
  const present: Record<string, string> = { ...files };
  if (yaml !== undefined) present['/srv/incontext.yaml'] = yaml;
  const config: Flags = yaml === undefined ? {} : { config: 'incontext.yaml' };
  return loadSettings({
    flags: { ...(env.INCONTEXT_UPSTREAM_URL === undefined ? UPSTREAM : {}), ...config, ...flags },
    env,
    cwd: '/srv',
    readFile: (path) => {
      const text = present[path];
      if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
      return text;
    },
  });
}

/** The settings, where they must be accepted. */
export function settingsFrom(origins: Origins): Settings {
  const loaded = loadFrom(origins);
  if (!loaded.ok) throw new Error(`refused: ${JSON.stringify(loaded.problems)}`);
  return loaded.settings;
}

/** The problems, none where the settings are accepted. */
export function problemsFrom(origins: Origins) {
  const loaded = loadFrom(origins);
  return loaded.ok ? [] : loaded.problems;
}
