import type { RawObject } from '../body/raw-object.js';
import type { Decision } from '../budget/decide.js';

/** A due compression pass of one exchange. */
export interface CompressionPass {
  readonly request: RawObject;
  readonly model: string | undefined;
  readonly promptTokens: number;
  readonly decision: Decision;
  readonly signal: AbortSignal;
}

export type CompressionResult =
  | { readonly kind: 'compressed'; readonly bytes: Buffer }
  | {
      readonly kind: 'failed';
      readonly reason: 'irreducible' | 'compression_failed' | 'compression_timeout';
    };

/** What the exchange asks of the configured context engine. */
export interface ContextManager {
  /** The engine's name, as in `context.engine`. */
  readonly name: string;
  /** W for a model of that context length, in tokens. */
  window(model: string | undefined, contextLength: number): number;
  /** Shortens the conversation; absent where the engine only clamps. */
  compress?(pass: CompressionPass): Promise<CompressionResult>;
}
