/** Overrides for one model, `models.<id>` in the file. */
export interface ModelSettings {
  readonly contextLength?: number | undefined;
  readonly tokenizerUrl?: string | undefined;
  readonly threshold?: number | undefined;
  readonly minOutputTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
}

export type Tenant =
  | { readonly kind: 'credential' }
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'none' };

/** A header's name in lower case, or a top-level member of the body. */
export interface IdSource {
  readonly kind: 'header' | 'body';
  readonly name: string;
}

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** Every setting in force, validated. Durations in seconds, sizes in bytes, budgets in tokens. */
export interface Settings {
  readonly upstream: {
    /** Origin and path in front of `/v1`, without a trailing slash: `http://u`, `https://u/prefix`. */
    readonly url: string;
    readonly apiKey: string | undefined;
    /** A PEM file's content. */
    readonly ca: string | undefined;
    readonly insecure: boolean;
    readonly connectTimeoutSeconds: number;
    /** 0: none. */
    readonly headersTimeoutSeconds: number;
    /** 0: none. */
    readonly bodyTimeoutSeconds: number;
  };
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** `''`, or a path that starts with a slash and does not end with one. */
    readonly pathPrefix: string;
    readonly dataDir: string;
    readonly logLevel: LogLevel;
    readonly bodyLimit: number;
    readonly drainSeconds: number;
    readonly apiKeys: readonly string[];
    readonly adminToken: string | undefined;
    readonly tenant: Tenant;
  };
  readonly budget: {
    readonly contextLength: number | undefined;
    readonly compressionWindowTokens: number | undefined;
    readonly minOutputTokens: number;
    readonly fallbackMarginTokens: number;
    readonly maxOutputTokens: number | undefined;
  };
  readonly tokenizer: {
    readonly backend: string;
    readonly url: string | undefined;
    readonly timeoutSeconds: number;
    readonly apiKey: string | undefined;
    readonly userAgent: string | undefined;
    readonly cacheEntries: number;
  };
  readonly context: {
    readonly engine: string;
    readonly pluginsDir: string | undefined;
  };
  readonly compression: {
    readonly threshold: number;
    /** 0: none. */
    readonly contextTimeoutSeconds: number;
    readonly modelThresholds: Readonly<Record<string, number>>;
    readonly compressOnEstimate: boolean;
    /** Share of the way to the trigger at which a pass is prepared; 0: off. */
    readonly prepare: number;
    readonly lowWater: number;
    readonly protectFirstN: number;
    readonly protectLastN: number;
    /** The server of an engine's own requests; `undefined`: the caller's upstream. */
    readonly summaryUrl: string | undefined;
    readonly summaryApiKey: string | undefined;
    readonly summaryModel: string | undefined;
    readonly summaryTimeoutSeconds: number;
    readonly summaryThinking: boolean;
  };
  readonly sessions: {
    readonly retentionDays: number;
    readonly idleSeconds: number;
    readonly commands: boolean;
    /** Beside `x-incontext-conversation`. */
    readonly conversationId: IdSource | undefined;
  };
  readonly models: ReadonlyMap<string, ModelSettings>;
  /** Module names or paths, resolved from the configuration file's folder. */
  readonly plugins: readonly string[];
  /** The folder that `plugins` are resolved from. */
  readonly pluginsBase: string;
  readonly backends: ReadonlyMap<string, unknown>;
  readonly engines: ReadonlyMap<string, unknown>;
}
