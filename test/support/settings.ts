import { readFileSync } from 'node:fs';
import { loadSettings } from '../../src/config/load.js';
import { formatProblems } from '../../src/config/problem.js';
import type { Settings } from '../../src/config/settings.js';

/** Where settings of a test come from. */
export interface TestSettings {
  readonly env?: Record<string, string>;
  /** The text of any file that is asked for. */
  readonly file?: string | undefined;
}

/** The settings that these flags make. */
export function settingsOf(flags: Record<string, string>, { env = {}, file }: TestSettings = {}): Settings {
  const readFile = (path: string) => file ?? readFileSync(path, 'utf8');
  const loaded = loadSettings({ flags, env, readFile, cwd: process.cwd() });
  if (!loaded.ok) throw new Error(formatProblems(loaded.problems));
  return loaded.settings;
}
