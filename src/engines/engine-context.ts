import type { Settings } from '../config/settings.js';
import type { EngineContext } from './contract.js';
import type { EngineServices } from './services.js';

/** What the configured engine is built from. */
export function engineContext(
  { context, compression, engines }: Pick<Settings, 'context' | 'compression' | 'engines'>,
  services: EngineServices,
): EngineContext {
  const { threshold, protectFirstN, protectLastN } = compression;
  return {
    options: engines.get(context.engine),
    compression: { threshold, protectFirstN, protectLastN },
    services,
  };
}
