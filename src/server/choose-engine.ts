import type { Settings } from '../config/settings.js';
import { NONE } from '../engines/bundled.js';
import { engineContext } from '../engines/engine-context.js';
import { inertServices } from '../engines/inert-services.js';
import type { RegisteredEngine } from '../engines/registration.js';
import { expectNoneRefused, type LoadedPlugins, loadPlugins } from './load-plugins.js';

/** What `context.engine` names, and what to tell the operator. */
export type EngineChoice = { readonly warnings: readonly string[] } & (
  | { readonly kind: 'none' }
  | RegisteredEngine
);

/**
 * Finds the configured engine, and builds it once to hear what it says of its settings.
 * @throws PluginError, EngineRegistryError, EngineSettingsError: no engine is chosen implicitly.
 */
export async function chooseEngineRegistration(
  settings: Settings,
  loaded?: LoadedPlugins,
): Promise<EngineChoice> {
  const { engine } = settings.context;
  const plugins = loaded ?? (await loadPlugins(settings));
  expectNoneRefused(plugins);
  const { warnings } = plugins.engines;
  if (engine === NONE) return { kind: 'none', warnings };
  const registered = await plugins.engines.choose(engine, engineContext(settings, inertServices()));
  return { ...registered, warnings };
}
