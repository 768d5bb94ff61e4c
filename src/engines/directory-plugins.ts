import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { importFile, messageOf } from '../plugins/plugin-module.js';
import type { EngineSource } from './engine-shape.js';
import { enginePluginContext, exportedEngines } from './module-engines.js';
import { readManifest } from './plugin-yaml.js';
import { EngineRegistryError, isEngineSource } from './registration.js';

const MANIFEST = 'plugin.yaml';
const MODULE = 'index.js';

/** A folder of the plugins' folder, not imported yet. */
export interface EngineFolder {
  /** The folder's own name, and the engine's. */
  readonly name: string;
  readonly path: string;
  /** Why it cannot be used, such as `has no index.js`. */
  readonly fault: string | undefined;
}

/** The folders that hold, or were meant to hold, an engine; `undefined` where there is no plugins' folder. */
export async function findEngineFolders(pluginsDir: string): Promise<readonly EngineFolder[] | undefined> {
  let names: string[];
  try {
    names = await readdir(pluginsDir);
  } catch {
    return undefined;
  }
  const found = await Promise.all(names.toSorted().map((name) => inspect(name, join(pluginsDir, name))));
  return found.filter((folder) => folder !== undefined);
}

async function inspect(name: string, path: string): Promise<EngineFolder | undefined> {
  if (name.startsWith('.') || name === 'node_modules') return undefined;
  const [manifest, module] = await Promise.all([isFile(join(path, MANIFEST)), isFile(join(path, MODULE))]);
  if (!manifest && !module) return undefined;
  const fault = manifest ? await manifestFault(name, path) : `has no ${MANIFEST}`;
  return { name, path, fault: fault ?? (module ? undefined : `has no ${MODULE}`) };
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function manifestFault(folder: string, path: string): Promise<string | undefined> {
  try {
    const { name } = readManifest(await readFile(join(path, MANIFEST), 'utf8'));
    return name === folder ? undefined : `is named "${name}" in its ${MANIFEST}: both names must be the same`;
  } catch (error) {
    return error instanceof TypeError
      ? `has a ${MANIFEST} that ${error.message}`
      : `has a ${MANIFEST} that cannot be read`;
  }
}

/**
 * Imports a folder's module. Only the chosen engine's code ever runs.
 * @throws EngineRegistryError
 */
export async function importEngines({ path, fault }: EngineFolder): Promise<readonly EngineSource[]> {
  if (fault !== undefined) throw new EngineRegistryError(`the folder ${path} ${fault}`);
  const engines = await collectEngines(path);
  if (engines.length > 0) return engines;
  throw new EngineRegistryError(
    `${join(path, MODULE)} exports no context engine: a class, createEngine(context) or register(context)`,
  );
}

async function collectEngines(path: string): Promise<readonly EngineSource[]> {
  try {
    const exports = await importFile(join(path, MODULE));
    const { register } = exports;
    if (typeof register !== 'function') return exportedEngines(exports);
    const registered: EngineSource[] = [];
    await register(enginePluginContext((engine) => registered.push(checkedSource(engine))));
    return registered;
  } catch (error) {
    throw new EngineRegistryError(`${join(path, MODULE)} cannot be loaded: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** @throws TypeError */
export function checkedSource(engine: unknown): EngineSource {
  if (isEngineSource(engine)) return engine;
  throw new TypeError(
    'registerContextEngine needs a class, a factory, or an instance with name and compress',
  );
}
