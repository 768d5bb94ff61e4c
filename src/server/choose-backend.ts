import { registerBundledBackends } from '../backends/bundled.js';
import type { BackendFactory } from '../backends/contract.js';
import { loadPlugins, pluginContext } from '../backends/plugins.js';
import { createBackendRegistry } from '../backends/registry.js';
import type { Settings } from '../config/settings.js';

/**
 * The factory of the configured backend: bundled, or registered by one of the configured plugins.
 * @throws PluginError for a plugin that cannot be loaded.
 * The factory throws BackendRegistryError for an unknown name, BackendSettingsError for refused settings.
 */
export async function chooseBackend(settings: Settings): Promise<BackendFactory> {
  const registry = createBackendRegistry();
  registerBundledBackends(registry);
  await loadPlugins(settings.plugins, settings.pluginsBase, pluginContext(registry));
  return (context) => registry.create(settings.tokenizer.backend, context);
}
