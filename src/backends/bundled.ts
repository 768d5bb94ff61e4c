import { createAutoBackend } from './auto/auto-backend.js';
import { createEstimateBackend } from './estimate/estimate-backend.js';
import { createLlamacppBackend } from './llamacpp/llamacpp-backend.js';
import type { BackendRegistry } from './registry.js';
import { createVllmBackend } from './vllm/vllm-backend.js';

/** Registers the backends that come with the proxy. */
export function registerBundledBackends(registry: Pick<BackendRegistry, 'register'>): void {
  registry.register('vllm', (context) => createVllmBackend(context));
  registry.register('llamacpp', (context) => createLlamacppBackend(context));
  registry.register('estimate', (context) => createEstimateBackend(context));
  registry.register('auto', (context) => createAutoBackend(context));
}
