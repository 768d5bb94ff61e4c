import {
  type Draft,
  draftSettings,
  type Loaded,
  type LoadInput,
  loadedFrom,
  type Sources,
} from '../config/load.js';
import type { SettingProblem } from '../config/problem.js';
import type { Settings } from '../config/settings.js';
import { isBundled, NONE } from '../engines/bundled.js';
import { windowProblems } from './window-check.js';

type CommandInput = Omit<LoadInput, 'checkBudget'>;

/** The settings of `serve`, `check` and `explain`: read, and checked against the configured context lengths. */
export function loadCommandSettings(input: CommandInput): Loaded {
  return loadedFrom(draftCommandSettings(input));
}

/** As `loadCommandSettings`, for those who have more to check. */
export function draftCommandSettings(input: CommandInput): Draft {
  return draftSettings({ ...input, checkBudget });
}

/** Of an engine that is not bundled only what would be wrong with any: no window is larger than without an engine. */
function checkBudget(settings: Settings, sources: Sources): SettingProblem[] {
  const engine = isBundled(settings.context.engine) ? settings.context.engine : NONE;
  return windowProblems({ ...settings, context: { ...settings.context, engine } }, sources);
}
