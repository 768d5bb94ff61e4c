import type { SettingProblem } from '../config/problem.js';

/** An engine refuses its block `engines.<name>`: every setting that is wrong, at once. */
export class EngineSettingsError extends Error {
  override readonly name = 'EngineSettingsError';
  constructor(readonly problems: readonly SettingProblem[]) {
    super(problems.map(({ setting, rule }) => `${setting}: ${rule}`).join('; '));
  }
}

/** The same error, whichever copy of this package or plain object it was thrown as; `undefined` for any other. */
export function asSettingsError(error: unknown): EngineSettingsError | undefined {
  if (error instanceof EngineSettingsError) return error;
  if (!(error instanceof Error) || error.name !== 'EngineSettingsError') return undefined;
  const problems: unknown = Reflect.get(error, 'problems');
  return Array.isArray(problems) && problems.every(isProblem) ? new EngineSettingsError(problems) : undefined;
}

function isProblem(value: unknown): value is SettingProblem {
  if (typeof value !== 'object' || value === null) return false;
  return ['setting', 'value', 'rule', 'example'].every((key) => typeof Reflect.get(value, key) === 'string');
}
