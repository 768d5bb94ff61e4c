import type { ModuleExports } from '../plugins/plugin-module.js';
import { ContextEngine, IrreducibleError } from './contract.js';
import { EngineSettingsError } from './engine-settings-error.js';
import { type EngineSource, isEngineClass } from './engine-shape.js';
import { CompletionError } from './services.js';

/** What an engine's plugin needs of this package, so that it need not import it. */
export interface EnginePluginContext {
  /**
   * Registers a class, a factory or an instance. Without a name, that of the instance counts; of a class or factory
   * it is not known before one is built, which is done only where nothing else has the configured name.
   */
  registerContextEngine(engine: EngineSource, name?: string): void;
  readonly ContextEngine: typeof ContextEngine;
  readonly errors: EngineErrors;
}

export interface EngineErrors {
  readonly EngineSettingsError: typeof EngineSettingsError;
  readonly IrreducibleError: typeof IrreducibleError;
  readonly CompletionError: typeof CompletionError;
}

export function enginePluginContext(
  registerContextEngine: EnginePluginContext['registerContextEngine'],
): EnginePluginContext {
  return {
    registerContextEngine,
    ContextEngine,
    errors: { EngineSettingsError, IrreducibleError, CompletionError },
  };
}

/** The engines that a module without `register` exports: `createEngine(context)`, else its classes of engines. */
export function exportedEngines(exports: ModuleExports): readonly EngineSource[] {
  const { createEngine } = exports;
  if (typeof createEngine === 'function') return [createEngine as EngineSource];
  return [...new Set(Object.values(exports).filter(isEngineClass))];
}
