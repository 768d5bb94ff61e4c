import { pathToFileURL } from 'node:url';
import {
  type BackendFactory,
  BackendSettingsError,
  CountFailedError,
  ModelUnknownError,
} from './contract.js';
import { resolveModule } from './module-resolution.js';
import type { BackendRegistry } from './registry.js';

/** The errors of the backend contract, so that a plugin need not import this package. */
export interface PluginErrors {
  readonly BackendSettingsError: typeof BackendSettingsError;
  readonly CountFailedError: typeof CountFailedError;
  readonly ModelUnknownError: typeof ModelUnknownError;
}

/** What a plugin's `register` is called with. */
export interface PluginContext {
  registerBackend(name: string, factory: BackendFactory): void;
  readonly errors: PluginErrors;
}

/** A module that a user lists under `plugins:`. */
export interface Plugin {
  register(context: PluginContext): void | Promise<void>;
}

/** The start fails with this. The message names the plugin as the user wrote it. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
}

/** What plugins see of a registry of backends. */
export function pluginContext(registry: Pick<BackendRegistry, 'register'>): PluginContext {
  return {
    registerBackend: (name, factory) => registry.register(name, factory),
    errors: { BackendSettingsError, CountFailedError, ModelUnknownError },
  };
}

/**
 * Imports each plugin, by package name or by a path from `baseFolder` (the configuration file's), and calls
 * its `register(host)`, one after the other.
 * @throws PluginError for the first one that is not found, cannot be imported, has no `register`, or throws.
 */
export async function loadPlugins(
  specifiers: readonly string[],
  baseFolder: string,
  host: PluginContext,
): Promise<void> {
  for (const specifier of specifiers) {
    const plugin = await importPlugin(specifier, baseFolder);
    try {
      await plugin.register(host);
    } catch (error) {
      throw new PluginError(`the plugin "${specifier}" failed to register: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}

async function importPlugin(specifier: string, baseFolder: string): Promise<Plugin> {
  const file = resolveModule(specifier, baseFolder);
  if (file === undefined) {
    throw new PluginError(
      `the plugin "${specifier}" is not found from the folder of the configuration file (a path starts with ./)`,
    );
  }
  let imported: unknown;
  try {
    imported = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new PluginError(`the plugin "${specifier}" cannot be imported: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (!isPlugin(imported))
    throw new PluginError(`the plugin "${specifier}" does not export register(context)`);
  return imported;
}

function isPlugin(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'register') === 'function';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
