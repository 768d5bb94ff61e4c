import type { BackendFactory } from '../backends/contract.js';
import type { BackendRegistry } from '../backends/registry.js';
import type { Settings } from '../config/settings.js';
import { expectNoneRefused, type LoadedPlugins, loadPlugins } from './load-plugins.js';

/**
 * The factory of the configured backend: bundled, or registered by one of the configured plugins.
 * @throws PluginError for a plugin that cannot be loaded.
 * The factory throws BackendRegistryError for an unknown name, BackendSettingsError for refused settings.
 */
export async function chooseBackend(settings: Settings, loaded?: LoadedPlugins): Promise<BackendFactory> {
  const plugins = loaded ?? (await loadPlugins(settings));
  expectNoneRefused(plugins);
  return configuredBackend(settings, plugins.backends);
}

/** The factory of the backend that the settings name. */
export function configuredBackend({ tokenizer }: Settings, registry: BackendRegistry): BackendFactory {
  return (context) => registry.create(tokenizer.backend, context);
}
