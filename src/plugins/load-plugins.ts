import { importPlugin, type ModuleExports, messageOf, PluginError } from './plugin-module.js';

/** What modules listed under `plugins:` meet. */
export interface PluginHost<Context> {
  /** What a plugin's `register` is called with. */
  readonly context: Context;
  /** Takes what a module without `register` exports; false where there is nothing to take. */
  adopt?(exports: ModuleExports): boolean;
}

/**
 * Imports a plugin, by package name or by a path from `baseFolder` (the configuration file's), and calls its
 * `register(context)`.
 * @throws PluginError where it is not found, cannot be imported, has nothing to register, or throws.
 */
export async function loadPlugin<Context>(
  specifier: string,
  baseFolder: string,
  host: PluginHost<Context>,
): Promise<void> {
  const exports = await importPlugin(specifier, baseFolder);
  const { register } = exports;
  try {
    if (typeof register === 'function') await register(host.context);
    else if (host.adopt?.(exports) !== true) {
      throw new PluginError(
        `the plugin "${specifier}" does not export register(context), nor a context engine`,
      );
    }
  } catch (error) {
    if (error instanceof PluginError) throw error;
    throw new PluginError(`the plugin "${specifier}" failed to register: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
