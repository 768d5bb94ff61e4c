import { windowOf } from '../../budget/window.js';
import type { ContextManager } from '../context-manager.js';

/** The engine that never compresses: the window is the whole context, and requests are only clamped. */
export function createNoneEngine(compressionWindowTokens: number | undefined): ContextManager {
  return {
    name: 'none',
    window: (_model, contextLength) =>
      windowOf({ contextLength, threshold: 1, engineUsesWholeContext: true, compressionWindowTokens }),
  };
}
