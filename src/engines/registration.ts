import { messageOf } from '../plugins/plugin-module.js';
import type { ContextEngine, EngineContext } from './contract.js';
import { asSettingsError } from './engine-settings-error.js';
import { completeEngine, type EngineSource, isClass, isContextEngine } from './engine-shape.js';

/** The start fails with this: no engine is chosen implicitly, and none takes the place of another. */
export class EngineRegistryError extends Error {
  override readonly name = 'EngineRegistryError';
}

/** The engine that `context.engine` names. */
export interface RegisteredEngine {
  readonly kind: 'engine';
  readonly name: string;
  /** Where it was found, such as `the plugin "./lcm.js"`. */
  readonly origin: string;
  /** Built once, at the start, to hear of refused settings; or the one that was registered. Serves no conversation. */
  readonly prototype: ContextEngine;
  /** The same, where no factory or class was registered but this instance. */
  readonly instance?: ContextEngine | undefined;
  /** Calls the registered factory; of an instance it makes a copy. `cloneEngine` is for conversations. */
  create(context: EngineContext): Promise<ContextEngine>;
}

/** True for what `buildEngine` can build from. */
export function isEngineSource(value: unknown): value is EngineSource {
  return typeof value === 'function' || isContextEngine(value);
}

/**
 * An engine with every member.
 * @throws EngineSettingsError, EngineRegistryError
 */
export async function buildEngine(
  source: EngineSource,
  origin: string,
  context: EngineContext,
): Promise<ContextEngine> {
  try {
    const engine: unknown = await instantiate(source, context);
    if (isContextEngine(engine)) return completeEngine(engine);
  } catch (error) {
    throw (
      asSettingsError(error) ??
      new EngineRegistryError(`the context engine of ${origin} cannot be built: ${messageOf(error)}`, {
        cause: error,
      })
    );
  }
  throw new EngineRegistryError(
    `what ${origin} gives is no context engine: it needs a name that is not blank, and compress(messages, options)`,
  );
}

function instantiate(source: EngineSource, context: EngineContext) {
  if (isClass(source)) return new source(context);
  return typeof source === 'function' ? source(context) : source;
}
