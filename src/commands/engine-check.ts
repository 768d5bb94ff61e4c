import type { Draft } from '../config/load.js';
import { nearest } from '../config/nearest.js';
import { type SettingProblem, showRefused } from '../config/problem.js';
import type { Part } from '../config/setting.js';
import { settingOf } from '../config/table.js';
import { EngineSettingsError } from '../engines/engine-settings-error.js';
import { EngineRegistryError } from '../engines/registration.js';
import { chooseEngineRegistration, type EngineChoice } from '../server/choose-engine.js';
import type { LoadedPlugins } from '../server/load-plugins.js';

/** What an engine is found by and built from. */
const PARTS_OF_ENGINES: readonly Part[] = ['file', 'plugins', 'context', 'compression', 'engines'];

export interface CheckedEngine {
  /** Absent where it is not known whether it could serve. */
  readonly choice?: EngineChoice;
  readonly problems: readonly SettingProblem[];
}

/** The configured engine, or what is wrong with it and its own settings, as far as what it needs was readable. */
export async function checkEngine(draft: Draft, plugins: LoadedPlugins): Promise<CheckedEngine> {
  const { settings, refusedIn } = draft;
  if (PARTS_OF_ENGINES.some((part) => refusedIn.has(part))) return { problems: [] };
  try {
    // Plugins that were refused are reported by themselves.
    return { choice: await chooseEngineRegistration(settings, { ...plugins, refused: [] }), problems: [] };
  } catch (error) {
    if (error instanceof EngineSettingsError) return { problems: error.problems };
    if (error instanceof EngineRegistryError) return { problems: [engineProblem(error, draft, plugins)] };
    throw error;
  }
}

function engineProblem(
  error: EngineRegistryError,
  { settings, sources }: Draft,
  { engines, refused }: LoadedPlugins,
): SettingProblem {
  const { engine } = settings.context;
  const known = engines.names();
  const close = known.includes(engine) ? undefined : nearest(engine, known);
  const hint = close === undefined ? '' : `; did you mean ${close}?`;
  const perhaps = refused.length > 0 ? '; a plugin that cannot be loaded may have it' : '';
  return {
    setting: sources.get('ENGINE')?.writtenAs ?? '',
    value: showRefused(engine, false),
    rule: `must name a context engine that can be loaded: ${error.message}${hint}${perhaps}`,
    example: settingOf('ENGINE').example,
  };
}
