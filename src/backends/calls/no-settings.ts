import { type BackendContext, BackendSettingsError, type SettingProblem } from '../contract.js';

/** For a backend that reads the general `tokenizer` section only: a block of its own may be there, but empty. */
export function checkSettings(name: string, context: Pick<BackendContext, 'options' | 'tokenizer'>): void {
  const problems = [
    ...optionProblems(name, context.options),
    ...cacheProblems(context.tokenizer.cacheEntries),
  ];
  if (problems.length > 0) throw new BackendSettingsError(problems);
}

function optionProblems(name: string, options: unknown): SettingProblem[] {
  if (options === undefined || options === null) return [];
  const rule = `the ${name} backend has no settings of its own: see tokenizer_url and its like`;
  const names = typeof options === 'object' && !Array.isArray(options) ? Object.keys(options) : undefined;
  if (names === undefined) {
    return [{ setting: `backends.${name}`, value: typeof options, rule, example: '{}' }];
  }
  return names.map((option) => ({
    setting: `backends.${name}.${option}`,
    value: '(masked)',
    rule,
    example: 'leave it out',
  }));
}

export function cacheProblems(entries: unknown): SettingProblem[] {
  if (typeof entries === 'number' && Number.isSafeInteger(entries) && entries > 0) return [];
  const rule = 'a positive whole number';
  return [{ setting: 'tokenizer_cache_entries', value: String(entries), rule, example: '4096' }];
}
