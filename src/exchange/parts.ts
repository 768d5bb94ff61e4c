import type { Backend } from '../backends/contract.js';
import type { BodyReader } from '../body/body-reader.js';
import type { ContextManager } from '../engines/context-manager.js';
import type { Metrics } from '../observe/metrics.js';
import type { Warnings } from '../observe/warnings.js';
import type { ModelRegistry } from '../upstream/model-registry.js';

/** What the stages of an exchange work with. */
export interface ExchangeParts {
  readonly backend: Backend;
  readonly engine: ContextManager;
  readonly models: ModelRegistry;
  readonly metrics: Metrics;
  readonly warnings: Warnings;
  readonly bodies: BodyReader;
  readonly upstream: { readonly reachable: boolean };
  /** How long one count may take, in seconds. */
  readonly countSeconds: number;
  /** The rough counter; takes the parsed request. Default: ours. */
  readonly estimate?: ((request: unknown) => number) | undefined;
}

/** What all I/O of one exchange is done with. */
export interface ExchangeCall {
  /** Aborts when the client goes. May be made only when it is asked for: do not copy it along. */
  readonly signal: AbortSignal;
  /** The `Authorization` value that goes upstream. */
  readonly credential: string | undefined;
  /** Count anew, whatever is cached. */
  readonly fresh?: boolean | undefined;
}
