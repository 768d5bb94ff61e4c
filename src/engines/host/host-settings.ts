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
