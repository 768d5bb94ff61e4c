import {
  type Draft,
  draftSettings,
  type Loaded,
  type LoadInput,
  loadedFrom,
  type Sources,
} from '../config/load.js';
import { type SettingProblem, showRefused } from '../config/problem.js';
import type { Settings } from '../config/settings.js';
import { settingOf } from '../config/table.js';
import { KNOWN_ENGINES } from '../engines/choose-engine.js';
import { windowProblems } from './window-check.js';

type CommandInput = Omit<LoadInput, 'checkBudget'>;

/** The settings of `serve`, `check` and `explain`: read, and checked against the configured context lengths. */
export function loadCommandSettings(input: CommandInput): Loaded {
  return loadedFrom(draftCommandSettings(input));
}

/** As `loadCommandSettings`, for those who have more to check. */
export function draftCommandSettings(input: CommandInput): Draft {
  const draft = draftSettings({ ...input, checkBudget });
  return { ...draft, problems: [...draft.problems, ...engineProblems(draft)] };
}

/** Of an engine that is not there only what would be wrong with any: no window is larger than without an engine. */
function checkBudget(settings: Settings, sources: Sources): SettingProblem[] {
  const engine = isKnown(settings.context.engine) ? settings.context.engine : 'none';
  return windowProblems({ ...settings, context: { ...settings.context, engine } }, sources);
}

function engineProblems({ settings, sources }: Draft): SettingProblem[] {
  const { engine } = settings.context;
  if (isKnown(engine)) return [];
  return [
    {
      setting: sources.get('ENGINE')?.writtenAs ?? '',
      value: showRefused(engine, false),
      rule: `must be ${KNOWN_ENGINES.join(' or ')}: there is no other context engine`,
      example: settingOf('ENGINE').example,
    },
  ];
}

function isKnown(engine: string): boolean {
  return (KNOWN_ENGINES as readonly string[]).includes(engine);
}
