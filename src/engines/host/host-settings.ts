import type { Settings } from '../../config/settings.js';

/** What the host reads of the settings. Durations in milliseconds. */
export interface HostSettings {
  /** States W outright. */
  readonly windowTokens: number | undefined;
  readonly threshold: number;
  readonly modelThresholds: ReadonlyMap<string, number>;
  /** By model id. */
  readonly ownThresholds: ReadonlyMap<string, number>;
  /** Of all passes of one exchange; `Infinity`: none. */
  readonly passDeadlineMs: number;
  readonly compressOnEstimate: boolean;
  /** Share of the way to the trigger; 0: nothing is prepared. */
  readonly prepare: number;
  readonly lowWater: number;
  readonly protectFirstN: number;
  readonly protectLastN: number;
  readonly idleSeconds: number;
  readonly retentionMs: number;
  /** The block `engines.<name>`. */
  readonly options: unknown;
}

/** Limits of the host's own. Durations in milliseconds. */
export interface HostLimits {
  /** Conversations that have an engine at one time. */
  readonly mostLive: number;
  /** For a hook that a request waits for: the request goes on without it. */
  readonly hookMs: number;
  /** How long an engine that did not come back from one in time is not asked in that conversation. */
  readonly hookPauseMs: number;
  /** How long no pass is tried again after one that failed for another reason than the conversation's size. */
  readonly failurePauseMs: number;
  /** For a hook that is told of an answer; the client has it by then. */
  readonly observerMs: number;
  /** For `onSessionEnd`. */
  readonly sessionEndMs: number;
  /** Between two looks for conversations that `sessions.retention` lets go. */
  readonly retentionEveryMs: number;
}

export const HOST_LIMITS: HostLimits = {
  mostLive: 1000,
  hookMs: 5000,
  hookPauseMs: 60_000,
  failurePauseMs: 30_000,
  observerMs: 30_000,
  sessionEndMs: 5000,
  retentionEveryMs: 3_600_000,
};

export function hostSettings(settings: Settings, engine: string): HostSettings {
  const { budget, compression, sessions, models } = settings;
  const own = new Map<string, number>();
  for (const [id, { threshold }] of models) if (threshold !== undefined) own.set(id, threshold);
  const seconds = compression.contextTimeoutSeconds;
  return {
    windowTokens: budget.compressionWindowTokens,
    threshold: compression.threshold,
    modelThresholds: new Map(Object.entries(compression.modelThresholds)),
    ownThresholds: own,
    passDeadlineMs: seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000,
    compressOnEstimate: compression.compressOnEstimate,
    prepare: compression.prepare,
    lowWater: compression.lowWater,
    protectFirstN: compression.protectFirstN,
    protectLastN: compression.protectLastN,
    idleSeconds: sessions.idleSeconds,
    retentionMs: sessions.retentionDays * 86_400_000,
    options: settings.engines.get(engine),
  };
}
