import { registerBundledBackends } from '../backends/bundled.js';
import {
  type BackendFactory,
  BackendSettingsError,
  CountFailedError,
  EstimateOnlyError,
  ModelUnknownError,
} from '../backends/contract.js';
import { type BackendRegistry, createBackendRegistry } from '../backends/registry.js';
import type { Settings } from '../config/settings.js';
import {
  type EngineErrors,
  type EnginePluginContext,
  enginePluginContext,
  exportedEngines,
} from '../engines/module-engines.js';
import { createEngineRegistry, type EngineRegistry } from '../engines/registry.js';
import { loadPlugin, type PluginHost } from '../plugins/load-plugins.js';
import { PluginError } from '../plugins/plugin-module.js';

/** The errors of the contracts, so that a plugin need not import this package. */
export interface PluginErrors extends EngineErrors {
  readonly BackendSettingsError: typeof BackendSettingsError;
  readonly CountFailedError: typeof CountFailedError;
  readonly ModelUnknownError: typeof ModelUnknownError;
  readonly EstimateOnlyError: typeof EstimateOnlyError;
}

/** What a plugin's `register` is called with. */
export interface PluginContext extends EnginePluginContext {
  registerBackend(name: string, factory: BackendFactory): void;
  readonly errors: PluginErrors;
}

/** A module that a user lists under `plugins:`. */
export interface Plugin {
  register(context: PluginContext): void | Promise<void>;
}

/** A plugin that could not be loaded. */
export interface RefusedPlugin {
  /** As the user wrote it. */
  readonly specifier: string;
  readonly error: PluginError;
}

/** What there is to choose from. */
export interface LoadedPlugins {
  readonly backends: BackendRegistry;
  readonly engines: EngineRegistry;
  readonly refused: readonly RefusedPlugin[];
}

/** Registers what is bundled, the engines of the plugins' folder, and what every configured plugin brings. */
export async function loadPlugins({
  plugins,
  pluginsBase,
  context,
}: Pick<Settings, 'plugins' | 'pluginsBase' | 'context'>): Promise<LoadedPlugins> {
  const backends = createBackendRegistry();
  const engines = createEngineRegistry();
  registerBundledBackends(backends);
  if (context.pluginsDir !== undefined) await engines.registerFolders(context.pluginsDir);
  const refused: RefusedPlugin[] = [];
  for (const specifier of plugins) {
    try {
      await loadPlugin(specifier, pluginsBase, pluginHost(specifier, backends, engines));
    } catch (error) {
      if (!(error instanceof PluginError)) throw error;
      refused.push({ specifier, error });
    }
  }
  if (plugins.length > 0) engines.lookedIn(`in the plugins (${plugins.join(', ')})`);
  return { backends, engines, refused };
}

/** What one plugin sees of the registries. */
export function pluginHost(
  specifier: string,
  backends: Pick<BackendRegistry, 'register'>,
  engines: Pick<EngineRegistry, 'register'>,
): PluginHost<PluginContext> {
  const origin = `the plugin "${specifier}"`;
  const forEngines = enginePluginContext((engine, name) => engines.register(engine, name, origin));
  return {
    context: {
      ...forEngines,
      registerBackend: (name, factory) => backends.register(name, factory),
      errors: {
        ...forEngines.errors,
        BackendSettingsError,
        CountFailedError,
        ModelUnknownError,
        EstimateOnlyError,
      },
    },
    adopt(exports) {
      const found = exportedEngines(exports);
      for (const engine of found) engines.register(engine, undefined, origin);
      return found.length > 0;
    },
  };
}

/** @throws PluginError of the first plugin that could not be loaded. */
export function expectNoneRefused({ refused: [first] }: LoadedPlugins): void {
  if (first !== undefined) throw first.error;
}
