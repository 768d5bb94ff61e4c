import { createCompressor } from './compressor/compressor.js';
import type { EngineFactory } from './contract.js';

/** The engine that only clamps. It is no ContextEngine, and nothing else can take its name. */
export const NONE = 'none';

/** The engines that come with the proxy, beside `none`. */
export const BUNDLED_ENGINES: ReadonlyMap<string, EngineFactory> = new Map<string, EngineFactory>([
  ['compressor', createCompressor],
]);

export function isBundled(name: string): boolean {
  return name === NONE || BUNDLED_ENGINES.has(name);
}
