import { type Backend, type BackendContext, type BackendFactory, BackendSettingsError } from './contract.js';

/** The backends that can be chosen by name. Only the chosen one is constructed. */
export interface BackendRegistry {
  /** @throws BackendRegistryError for a blank name and for one that is taken. */
  register(name: string, factory: BackendFactory): void;
  /** In the order of registration. */
  names(): readonly string[];
  /**
   * @throws BackendRegistryError for an unknown name, and for a factory that gives no backend.
   * @throws BackendSettingsError where the backend refuses its settings.
   */
  create(name: string, context: BackendContext): Promise<Backend>;
}

/** The start fails with this: a backend is never chosen implicitly. */
export class BackendRegistryError extends Error {
  override readonly name = 'BackendRegistryError';
}

export function createBackendRegistry(): BackendRegistry {
  const factories = new Map<string, BackendFactory>();
  return {
    register(name, factory) {
      if (typeof name !== 'string' || name.trim() === '') {
        throw new BackendRegistryError('a backend needs a name that is not blank');
      }
      if (typeof factory !== 'function') {
        throw new BackendRegistryError(`the backend "${name}" is registered without a factory function`);
      }
      if (factories.has(name)) throw new BackendRegistryError(`two backends are registered as "${name}"`);
      factories.set(name, factory);
    },
    names: () => [...factories.keys()],
    async create(name, context) {
      const factory = factories.get(name);
      if (factory === undefined) {
        const known = [...factories.keys()].join(', ');
        throw new BackendRegistryError(`there is no backend "${name}"; known are: ${known || 'none'}`);
      }
      const backend: unknown = await built(name, factory, context);
      if (!isBackend(backend)) {
        throw new BackendRegistryError(
          `the backend "${name}" lacks describe, count or clearCache, or a source of 1 to 64 visible ASCII characters`,
        );
      }
      return backend;
    },
  };
}

async function built(name: string, factory: BackendFactory, context: BackendContext): Promise<unknown> {
  try {
    return await factory(context);
  } catch (error) {
    if (error instanceof BackendSettingsError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new BackendRegistryError(`the backend "${name}" cannot be built: ${message}`, { cause: error });
  }
}

/** It is the value of a header and of a log field. */
export function isSource(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,64}$/.test(value);
}

function isBackend(value: unknown): value is Backend {
  if (typeof value !== 'object' || value === null) return false;
  const source: unknown = Reflect.get(value, 'source');
  const calls = ['describe', 'count', 'clearCache'] as const;
  return isSource(source) && calls.every((name) => typeof Reflect.get(value, name) === 'function');
}
