import type { ContextEngine, EngineContext } from './contract.js';
import type { RegisteredEngine } from './registration.js';
import { buildEngine, EngineRegistryError } from './registration.js';

/**
 * The engine's instance for one more conversation: by its own `cloneForAgent`, else by the registered factory, else
 * as a copy of the registered instance.
 * @throws EngineSettingsError, EngineRegistryError
 */
export async function cloneEngine(
  { prototype, name, origin, create }: RegisteredEngine,
  context: EngineContext,
): Promise<ContextEngine> {
  if (typeof prototype.cloneForAgent !== 'function') return create(context);
  const clone = await buildEngine(
    async () => prototype.cloneForAgent?.(context) as ContextEngine,
    origin,
    context,
  );
  if (clone === prototype) {
    throw new EngineRegistryError(`cloneForAgent of the context engine "${name}" gives the shared instance`);
  }
  if (clone.name !== name) {
    throw new EngineRegistryError(
      `cloneForAgent of the context engine "${name}" gives one named "${clone.name}"`,
    );
  }
  return clone;
}

/**
 * An engine of the same class with its own fields copied one by one. What is no plain data (functions, connections,
 * objects of a class) is shared. Private members (#name) are not copied: such an engine needs a `cloneForAgent`.
 */
export function copyInstance(engine: ContextEngine): ContextEngine {
  const copy: object = Object.create(Object.getPrototypeOf(engine));
  for (const key of Reflect.ownKeys(engine)) {
    const descriptor = Object.getOwnPropertyDescriptor(engine, key) as PropertyDescriptor;
    if ('value' in descriptor) descriptor.value = copyValue(descriptor.value);
    Object.defineProperty(copy, key, descriptor);
  }
  return copy as ContextEngine;
}

function copyValue(value: unknown): unknown {
  return isPlain(value, new Set()) ? structuredClone(value) : value;
}

const PLAIN_PROTOTYPES: ReadonlySet<unknown> = new Set([Object.prototype, null]);

/** True for data through and through: `structuredClone` would take the methods of anything else. */
function isPlain(value: unknown, seen: Set<object>): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return false;
  if (typeof value !== 'object' || value === null || seen.has(value)) return true;
  seen.add(value);
  if (value instanceof Date || value instanceof RegExp || ArrayBuffer.isView(value))
    return !Buffer.isBuffer(value);
  if (value instanceof Map) return [...value].flat().every((each) => isPlain(each, seen));
  if (value instanceof Set) return [...value].every((each) => isPlain(each, seen));
  if (Array.isArray(value)) return value.every((each) => isPlain(each, seen));
  return (
    PLAIN_PROTOTYPES.has(Object.getPrototypeOf(value)) &&
    Object.values(value).every((each) => isPlain(each, seen))
  );
}
