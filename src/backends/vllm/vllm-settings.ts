import { z } from 'zod';
import { cacheProblems } from '../calls/no-settings.js';
import { LONG_COUNTS_AT_ONCE } from '../calls/server-client.js';
import { type BackendContext, BackendSettingsError, type SettingProblem } from '../contract.js';

/** The block `backends.vllm`. */
export interface VllmSettings {
  /** Tokens that an image, audio or video counts where vLLM does not count it before it answers. */
  readonly mediaReserveTokens: number;
  /** Long prompts that the server is to count at a time. */
  readonly longCountsAtOnce: number;
}

interface Rule {
  readonly check: z.ZodType<number>;
  readonly rule: string;
  readonly example: string;
}

const RULES: Readonly<Record<string, Rule>> = {
  media_reserve_tokens: {
    check: z.int().nonnegative(),
    rule: 'must be a whole number of tokens, 0 or more',
    example: '2048',
  },
  long_counts_at_once: { check: z.int().positive(), rule: 'must be a whole number above 0', example: '4' },
};
const DEFAULT_MEDIA_RESERVE = 2048;

/** @throws BackendSettingsError naming everything that is wrong */
export function readVllmSettings({ options, tokenizer }: Pick<BackendContext, 'options' | 'tokenizer'>) {
  const given = options ?? {};
  const isMapping = typeof given === 'object' && !Array.isArray(given);
  const values = isMapping ? (given as Record<string, unknown>) : {};
  const problems = [
    ...(isMapping ? [] : [noMapping(given)]),
    ...Object.entries(values).flatMap(([name, value]) => problemsOf(name, value)),
    ...cacheProblems(tokenizer.cacheEntries),
  ];
  if (problems.length > 0) throw new BackendSettingsError(problems);
  return {
    mediaReserveTokens: numberOf(values.media_reserve_tokens) ?? DEFAULT_MEDIA_RESERVE,
    longCountsAtOnce: numberOf(values.long_counts_at_once) ?? LONG_COUNTS_AT_ONCE,
  } satisfies VllmSettings;
}

function noMapping(given: unknown): SettingProblem {
  return { setting: 'backends.vllm', value: typeof given, rule: 'must be a mapping', example: '{}' };
}

function problemsOf(name: string, value: unknown): SettingProblem[] {
  const setting = `backends.vllm.${name}`;
  const known = RULES[name];
  if (known === undefined) {
    const rule = `the vllm backend has ${Object.keys(RULES).join(' and ')} only`;
    return [{ setting, value: '(masked)', rule, example: 'leave it out' }];
  }
  if (value === null || known.check.safeParse(value).success) return [];
  const shown = typeof value === 'number' ? String(value) : typeof value;
  return [{ setting, value: shown, rule: known.rule, example: known.example }];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
