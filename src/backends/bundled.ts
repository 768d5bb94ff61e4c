import type { BackendRegistry } from './registry.js';
import { createVllmBackend } from './vllm/vllm-backend.js';

/** Registers the backends that come with the proxy. */
export function registerBundledBackends(registry: Pick<BackendRegistry, 'register'>): void {
  registry.register('vllm', (context) => createVllmBackend(context));
}
