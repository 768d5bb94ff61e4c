import type { Settings } from '../config/settings.js';
import type { ContextManager } from './context-manager.js';
import { createNoneEngine } from './none/none.js';

export const KNOWN_ENGINES = ['none'] as const;

/** The start fails with this: an engine is never chosen implicitly. */
export class UnknownEngineError extends Error {
  override readonly name = 'UnknownEngineError';
}

/** @throws UnknownEngineError */
export function chooseEngine({ context, budget }: Settings): ContextManager {
  if (context.engine === 'none') return createNoneEngine(budget.compressionWindowTokens);
  throw new UnknownEngineError(
    `there is no context engine "${context.engine}"; known are: ${KNOWN_ENGINES.join(', ')}`,
  );
}
