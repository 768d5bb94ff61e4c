import { pathToFileURL } from 'node:url';
import { resolveModule } from './module-resolution.js';

/** The start fails with this. The message names the plugin as the user wrote it. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
}

export type ModuleExports = Readonly<Record<string, unknown>>;

/**
 * Imports a module by package name or by a path from `baseFolder`.
 * @throws PluginError where it is not found or cannot be imported.
 */
export async function importPlugin(specifier: string, baseFolder: string): Promise<ModuleExports> {
  const file = resolveModule(specifier, baseFolder);
  if (file === undefined) {
    throw new PluginError(
      `the plugin "${specifier}" is not found from the folder of the configuration file (a path starts with ./)`,
    );
  }
  try {
    return await importFile(file);
  } catch (error) {
    throw new PluginError(`the plugin "${specifier}" cannot be imported: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Imports the module that an absolute path names. */
export async function importFile(file: string): Promise<ModuleExports> {
  return (await import(pathToFileURL(file).href)) as ModuleExports;
}

/** The readable part of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
