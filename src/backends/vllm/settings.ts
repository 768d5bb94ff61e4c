import { type BackendContext, BackendSettingsError, type SettingProblem } from '../contract.js';

/** The backend reads the general `tokenizer` section; a block `backends.vllm` may be there, but empty. */
export function checkVllmSettings(context: Pick<BackendContext, 'options' | 'tokenizer'>): void {
  const problems = [...optionProblems(context.options), ...cacheProblems(context.tokenizer.cacheEntries)];
  if (problems.length > 0) throw new BackendSettingsError(problems);
}

function optionProblems(options: unknown): SettingProblem[] {
  if (options === undefined || options === null) return [];
  const rule = 'the vllm backend has no settings of its own: see tokenizer_url and its like';
  const names = typeof options === 'object' && !Array.isArray(options) ? Object.keys(options) : undefined;
  if (names === undefined) {
    return [{ setting: 'backends.vllm', value: typeof options, rule, example: '{}' }];
  }
  return names.map((name) => ({
    setting: `backends.vllm.${name}`,
    value: '(masked)',
    rule,
    example: 'leave it out',
  }));
}

function cacheProblems(entries: unknown): SettingProblem[] {
  if (typeof entries === 'number' && Number.isSafeInteger(entries) && entries > 0) return [];
  const rule = 'a positive whole number';
  return [{ setting: 'tokenizer_cache_entries', value: String(entries), rule, example: '4096' }];
}
