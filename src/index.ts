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
  type ModelDescription,
  ModelUnknownError,
  type SettingProblem,
} from './backends/contract.js';
export type { Plugin, PluginContext } from './backends/plugins.js';
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
export type { AssembleOptions } from './server/assemble.js';
export { createProxy, type RunningProxy } from './server/create-proxy.js';
export { VERSION } from './version.js';
