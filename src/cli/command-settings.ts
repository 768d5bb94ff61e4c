import { type Draft, draftSettings, type Loaded, type LoadInput, loadedFrom } from '../config/load.js';
import { type SettingProblem, showRefused } from '../config/problem.js';
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
  const draft = draftSettings({
    ...input,
    // The window is the engine's: without one there is none to compare with.
    checkBudget: (settings, sources) =>
      isKnown(settings.context.engine) ? windowProblems(settings, sources) : [],
  });
  return { ...draft, problems: [...draft.problems, ...engineProblems(draft)] };
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
