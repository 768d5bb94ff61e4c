import type { Backend } from '../backends/contract.js';
import type { BodyReader } from '../body/body-reader.js';
import type { RawObject } from '../body/raw-object.js';
import type { FormReader } from '../chat-form/form-reader.js';
import type { Message } from '../conversation/message.js';
import type { ContextManager } from '../engines/context-manager.js';
import type { CompleteOptions, Completion } from '../engines/services.js';
import type { Metrics } from '../observe/metrics.js';
import type { Warnings } from '../observe/warnings.js';
import type { ModelRegistry } from '../upstream/model-registry.js';
import type { CountDrift } from './count-drift.js';

/** On whose behalf an engine asks the upstream. */
export interface AuxiliaryCaller {
  /** The model that the caller's request names. */
  readonly model: string | undefined;
  /** The caller's `Authorization` and `x-api-key`: they never leave for another server than its own. */
  readonly credential: string | undefined;
  readonly apiKey?: string | undefined;
}

/** What the stages of an exchange work with. */
export interface ExchangeParts {
  readonly backend: Backend;
  readonly engine: ContextManager;
  readonly models: ModelRegistry;
  readonly metrics: Metrics;
  readonly warnings: Warnings;
  readonly bodies: BodyReader;
  readonly forms: FormReader;
  /** What the upstream's own usage taught about counts. */
  readonly drift: CountDrift;
  readonly upstream: { readonly reachable: boolean };
  /** The id of its conversation that a request carries in its body; absent where the operator named no such member. */
  readonly conversationIdIn?: ((request: RawObject) => string | undefined) | undefined;
  /** How long one count may take, in seconds. */
  readonly countSeconds: number;
  /** One request of an engine's own. @throws CompletionError */
  readonly complete: (
    messages: readonly Message[],
    options: CompleteOptions,
    caller: AuxiliaryCaller,
  ) => Promise<Completion>;
  /** The rough counter; takes the parsed request, and the path of its endpoint. Default: ours. */
  readonly estimate?: ((request: unknown, path: string | undefined) => number) | undefined;
}

/** What all I/O of one exchange is done with. */
export interface ExchangeCall {
  /** Aborts when the client goes. May be made only when it is asked for: do not copy it along. */
  readonly signal: AbortSignal;
  /** The `Authorization` value that goes upstream. */
  readonly credential: string | undefined;
  /** The `x-api-key` value that goes upstream. */
  readonly apiKey?: string | undefined;
  /** Whose request it is: what one tenant said never reaches another's request. `undefined` with engine `none`. */
  readonly tenant?: string | undefined;
  /** The id that the client gave its conversation. */
  readonly conversationId?: string | undefined;
  /** Count anew, whatever is cached. */
  readonly fresh?: boolean | undefined;
  /** The endpoint's path behind the upstream's base. Default: Chat Completions. */
  readonly path?: string | undefined;
}
