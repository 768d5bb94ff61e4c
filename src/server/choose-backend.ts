import { registerBundledBackends } from '../backends/bundled.js';
import type { BackendFactory } from '../backends/contract.js';
import { loadPlugins, PluginError, pluginContext } from '../backends/plugins.js';
import { type BackendRegistry, createBackendRegistry } from '../backends/registry.js';
import type { Settings } from '../config/settings.js';

/** A plugin that could not be loaded. */
export interface RefusedPlugin {
  /** As the user wrote it. */
  readonly specifier: string;
  readonly error: PluginError;
}

/** The backends there are. */
export interface LoadedBackends {
  readonly registry: BackendRegistry;
  readonly refused: readonly RefusedPlugin[];
}

/** Registers the bundled backends and those of every configured plugin that can be loaded. */
export async function loadBackends({
  plugins,
  pluginsBase,
}: Pick<Settings, 'plugins' | 'pluginsBase'>): Promise<LoadedBackends> {
  const registry = createBackendRegistry();
  registerBundledBackends(registry);
  const refused: RefusedPlugin[] = [];
  for (const specifier of plugins) {
    try {
      await loadPlugins([specifier], pluginsBase, pluginContext(registry));
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      refused.push({ specifier, error });
    }
  }
  return { registry, refused };
}

/**
 * The factory of the configured backend: bundled, or registered by one of the configured plugins.
 * @throws PluginError for a plugin that cannot be loaded.
 * The factory throws BackendRegistryError for an unknown name, BackendSettingsError for refused settings.
 */
export async function chooseBackend(settings: Settings): Promise<BackendFactory> {
  const { registry, refused } = await loadBackends(settings);
  const [first] = refused;
  if (first !== undefined) throw first.error;
  return configuredBackend(settings, registry);
}

/** The factory of the backend that the settings name. */
export function configuredBackend({ tokenizer }: Settings, registry: BackendRegistry): BackendFactory {
  return (context) => registry.create(tokenizer.backend, context);
}
