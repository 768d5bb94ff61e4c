export {
  type Backend,
  type BackendCall,
  type BackendContext,
  type BackendFactory,
  type BackendHealth,
  type BackendObserver,
  BackendSettingsError,
  type Count,
  type CountCall,
  CountFailedError,
  type CountFailure,
  EstimateOnlyError,
  type ModelDescription,
  ModelUnknownError,
  type SettingProblem,
} from './backends/contract.js';
export { type BackendRegistry, BackendRegistryError, createBackendRegistry } from './backends/registry.js';
export { type RawBody, RawObject, readBody } from './body/raw-object.js';
export type { CapField } from './budget/cap-field.js';
export {
  type BudgetInput,
  type CallerCap,
  type CapDecision,
  type Decision,
  decide,
} from './budget/decide.js';
export { resolveModelThreshold } from './budget/model-threshold.js';
export { ACTIONS, type Action, REASONS, type Reason } from './budget/reason.js';
export { loadCommandSettings as loadSettings } from './cli/command-settings.js';
export type { Loaded, LoadInput } from './config/load.js';
export { formatProblems } from './config/problem.js';
export type { Settings } from './config/settings.js';
export { headLength, type Message, type Usage } from './conversation/message.js';
export {
  type CompressOptions,
  ContextEngine,
  type EngineContext,
  type EngineFactory,
  type EngineStatus,
  IrreducibleError,
  type SelectContext,
  type SessionStart,
  type ToolSchema,
} from './engines/contract.js';
export { EngineSettingsError } from './engines/engine-settings-error.js';
export type { EngineClass, EngineLike, EngineSource } from './engines/engine-shape.js';
export { EngineRegistryError } from './engines/registration.js';
export {
  type CompleteOptions,
  type Completion,
  CompletionError,
  type CompletionFailure,
  type EngineServices,
  type EngineStore,
} from './engines/services.js';
export { PluginError } from './plugins/plugin-module.js';
export type { AssembleOptions } from './server/assemble.js';
export { chooseEngineRegistration, type EngineChoice } from './server/choose-engine.js';
export { createProxy, type RunningProxy } from './server/create-proxy.js';
export type { Plugin, PluginContext, PluginErrors } from './server/load-plugins.js';
export { VERSION } from './version.js';
