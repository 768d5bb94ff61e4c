import type { EngineHost } from './host/engine-host.js';

/** What the exchange asks of the configured context engine. */
export interface ContextManager {
  /** The engine's name, as in `context.engine`. */
  readonly name: string;
  /** W for a model of that context length, in tokens. */
  window(model: string | undefined, contextLength: number): number;
  /** Drives the engine; absent where it only clamps. */
  readonly host?: EngineHost | undefined;
}
