import type { RawObject } from '../body/raw-object.js';
import type { CapField } from '../budget/cap-field.js';
import type { SettingProblem } from '../config/problem.js';

export type { SettingProblem } from '../config/problem.js';

/** What a backend is given with every call that may do I/O. */
export interface BackendCall {
  /** Aborts with the exchange it serves: a call must stop then. */
  readonly signal: AbortSignal;
  /** The `Authorization` header value that the upstream is going to get, if any. Never log it. */
  readonly credential: string | undefined;
  /** The `x-api-key` header value that the upstream is going to get, if any. Never log it either. */
  readonly apiKey?: string | undefined;
}

export interface CountCall extends BackendCall {
  /** The context length known so far in tokens; `undefined`: not known yet. */
  readonly contextLength: number | undefined;
  /** True where the operator stated `contextLength`: a report of another length is then no exact count. */
  readonly configured: boolean;
  /** True: ask the server again, whatever is cached. */
  readonly fresh?: boolean | undefined;
  /** The endpoint that would answer the request, such as `/v1/responses`. Default: `/v1/chat/completions`. */
  readonly path?: string | undefined;
}

export interface Count {
  /** P: prompt tokens, exactly as the upstream will render the request. A non-negative integer. */
  readonly tokens: number;
  /** The context length that the server reports with the count, where it reports one. */
  readonly contextLength?: number | undefined;
  /**
   * True where it is not certain that the upstream renders so many: they are the most that are likely. The proxy adds
   * its fallback margin then, and calls it an estimate.
   */
  readonly rough?: boolean | undefined;
}

export interface ModelDescription {
  readonly id: string;
  readonly contextLength?: number | undefined;
}

/** A snapshot for `/incontext/status` and the metrics. */
export interface BackendHealth {
  readonly state: 'closed' | 'open' | 'half_open';
  readonly calls: number;
  readonly failures: number;
}

/** Counts exactly for one kind of server (seed 004, "Replacing the inference backend"). */
export interface Backend {
  /** Safe diagnostic, the value of `x-incontext-source` for exact counts, for example `vllm-tokenize`. */
  readonly source: string;

  /** The context length of `model` (without one: of the upstream's first model), `undefined` where unknown. */
  describe(model: string | undefined, call: BackendCall): Promise<number | undefined>;

  /** All models of the upstream, its first model first. Rejects where the upstream does not answer. */
  models?(call: BackendCall): Promise<readonly ModelDescription[]>;

  /**
   * The exact prompt tokens of `request`.
   * @throws ModelUnknownError where the server does not know the model: the request passes unchanged.
   * @throws EstimateOnlyError where the backend does not count, on purpose: the proxy estimates without a warning.
   * Any other rejection is a failed count: the proxy falls back to its estimate.
   */
  count(request: RawObject, call: CountCall): Promise<Count>;

  /**
   * True where `count` knows requests of this endpoint, such as `/v1/responses`. Default: chats only, and the
   * requests of other endpoints are estimated.
   */
  counts?(path: string): boolean;

  /** Forgets every cached count, and voids those in flight. */
  clearCache(): void;

  /** Under which field a cap held by `field` goes out. Default: the same field. */
  outputBudgetField?(field: CapField, request: RawObject): CapField;

  /** The largest output that the backend allows for this request, beside the window. Default: none. */
  outputBudgetLimit?(request: RawObject, contextLength: number): number | undefined;

  /**
   * The positive cap that the server reads from a raw JSON value (`"2048"`, `2048.0`), `undefined` for any
   * other value. Default: positive integer literals only.
   */
  coerceOutputBudget?(text: string): number | undefined;

  /** True where an answer of this status and body refuses the request because it does not fit the context. */
  isOverflow?(status: number, body: string): boolean;

  health?(): BackendHealth;

  close?(): Promise<void>;
}

/** The server says that it does not serve this model. */
export class ModelUnknownError extends Error {
  override readonly name = 'ModelUnknownError';
}

/** The backend does not count exactly, on purpose: the proxy's estimate is what is wanted, and no failure. */
export class EstimateOnlyError extends Error {
  override readonly name = 'EstimateOnlyError';
}

/**
 * An exact count that could not be had. `code` is one of ours and safe to log and to use as a metric label:
 * `timeout`, `unreachable`, `status`, `redirect`, `bad_answer`, `window_mismatch`, `circuit_open`, `unsupported`.
 */
export class CountFailedError extends Error {
  override readonly name = 'CountFailedError';
  constructor(
    readonly code: CountFailure,
    /** What `check` shows beside the code, such as `HTTP 401` or `ECONNREFUSED`: no address, no word of the server. */
    message: string = code,
  ) {
    super(message);
  }
}

export const COUNT_FAILURES = [
  'timeout',
  'unreachable',
  'status',
  'redirect',
  'bad_answer',
  'window_mismatch',
  'circuit_open',
  'unsupported',
  'other',
] as const;
export type CountFailure = (typeof COUNT_FAILURES)[number];

/** A reading for metrics; every hook is optional and must not throw. */
export interface BackendObserver {
  onCall?(seconds: number): void;
  onCache?(result: 'hit' | 'miss' | 'shared'): void;
}

/** What a backend is built from. */
export interface BackendContext {
  /** The block `backends.<name>` of the configuration file, as it stands there. */
  readonly options: unknown;
  /** Where the proxy forwards to: origin and path in front of `/v1`, no trailing slash. */
  readonly upstream: string;
  readonly tokenizer: {
    readonly url: string | undefined;
    readonly timeoutSeconds: number;
    readonly apiKey: string | undefined;
    readonly userAgent: string | undefined;
    readonly cacheEntries: number;
    /** Tokenizer endpoints of single models, by model id. */
    readonly urlByModel: ReadonlyMap<string, string>;
  };
  readonly tls: { readonly ca: string | undefined; readonly insecure: boolean };
  readonly connectTimeoutSeconds: number;
  readonly observer: BackendObserver;
}

/** Builds a backend, or throws `BackendSettingsError` naming every setting that is wrong. */
export type BackendFactory = (context: BackendContext) => Backend | Promise<Backend>;

export class BackendSettingsError extends Error {
  override readonly name = 'BackendSettingsError';
  constructor(readonly problems: readonly SettingProblem[]) {
    super(problems.map((p) => `${p.setting}: ${p.rule}`).join('; '));
  }
}
