import type { Settings } from '../config/settings.js';
import type { ContextManager } from './context-manager.js';
import { EngineWindows } from './host/engine-windows.js';
import { hostSettings } from './host/host-settings.js';
import { createNoneEngine } from './none/none.js';
import type { RegisteredEngine } from './registration.js';

/** What the exchange asks where no conversation is driven: windows only. */
export function windowsOnly(
  choice: { readonly kind: 'none' } | RegisteredEngine,
  settings: Settings,
): ContextManager {
  if (choice.kind === 'none') return createNoneEngine(settings.budget.compressionWindowTokens);
  const windows = new EngineWindows(choice.prototype, hostSettings(settings, choice.name));
  return { name: choice.name, window: (model, contextLength) => windows.window(model, contextLength) };
}
