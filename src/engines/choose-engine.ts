import type { Settings } from '../config/settings.js';
import type { ContextManager } from './context-manager.js';
import { createNoneEngine } from './none/none.js';
import type { RegisteredEngine } from './registration.js';

/** The start fails with this: an engine that cannot be driven is not passed over. */
export class UnknownEngineError extends Error {
  override readonly name = 'UnknownEngineError';
}

/** What the exchange asks. @throws UnknownEngineError */
export function contextManagerOf(
  choice: { readonly kind: 'none' } | RegisteredEngine,
  { budget }: Settings,
): ContextManager {
  if (choice.kind === 'none') return createNoneEngine(budget.compressionWindowTokens);
  throw new UnknownEngineError(`this version cannot drive the context engine "${choice.name}" yet`);
}
