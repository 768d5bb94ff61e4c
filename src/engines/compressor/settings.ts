import { z } from 'zod';
import { showRefused } from '../../config/problem.js';
import { EngineSettingsError } from '../engine-settings-error.js';

const share = (value: number, most: number) => z.number().gt(0).lte(most).default(value);
const tokens = (value: number) => z.int().min(64).max(1_000_000).default(value);

/** The block `engines.compressor`. Shares are of the target that a pass is given. */
const Settings = z.strictObject({
  /** What stays verbatim at the end. */
  tail_share: share(0.16, 0.8),
  /** What the protected first messages may take; beyond it they yield. */
  head_share: share(0.1, 0.5),
  /** What the model's summary may take. */
  summary_share: share(0.18, 0.5),
  summary_max_tokens: tokens(2400),
  /** What the identifiers may take that the engine keeps itself. */
  ledger_share: share(0.25, 0.5),
  ledger_max_tokens: tokens(8000),
  /** What the steps since the last summary may take, as one line each, before the model is asked again. */
  digest_share: share(0.25, 0.5),
  digest_max_tokens: tokens(2000),
  /** What the model is shown of the conversation in one call. */
  input_share: share(0.6, 1),
  input_max_tokens: tokens(40_000),
  /** How long one call of the model may take. */
  summary_timeout_seconds: z.number().gt(0).max(3600).default(60),
});

export type CompressorSettings = z.infer<typeof Settings>;

/** What summary, list and lines may take together: more would leave no room for what they stand before. */
const MOST_TOGETHER = 0.9;

/** @throws EngineSettingsError */
export function readSettings(options: unknown): CompressorSettings {
  const read = Settings.safeParse(options ?? {});
  if (read.success) return satisfiable(read.data);
  throw new EngineSettingsError(read.error.issues.flatMap((issue) => problemsOf(issue, options)));
}

/** Wishes that no target can grant all at once share what there is. */
function satisfiable(wished: CompressorSettings): CompressorSettings {
  const { summary_share, ledger_share, digest_share } = wished;
  const granted = Math.min(1, MOST_TOGETHER / (summary_share + ledger_share + digest_share));
  return {
    ...wished,
    summary_share: summary_share * granted,
    ledger_share: ledger_share * granted,
    digest_share: digest_share * granted,
  };
}

function problemsOf(issue: z.core.$ZodIssue, options: unknown) {
  const names = issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.map(String).join('.')];
  return names.map((name) => ({
    setting: ['engines.compressor', name].filter(Boolean).join('.'),
    value: showRefused(valueAt(options, name), false),
    rule: issue.code === 'unrecognized_keys' ? 'is no setting of this engine' : issue.message,
    example: exampleOf(name),
  }));
}

function valueAt(options: unknown, name: string): unknown {
  if (name === '' || typeof options !== 'object' || options === null) return options;
  return Reflect.get(options, name);
}

function exampleOf(name: string): string {
  const defaults: Readonly<Record<string, unknown>> = Settings.parse({});
  const value = defaults[name];
  return value === undefined ? 'tail_share: 0.16' : `${name}: ${String(value)}`;
}
