import { resolveModelThreshold } from '../budget/model-threshold.js';
import { effectiveReserve, startRefusal, windowOf } from '../budget/window.js';
import type { Sources } from '../config/load.js';
import type { SettingProblem } from '../config/problem.js';
import type { ModelSettings, Settings } from '../config/settings.js';
import { environmentName, type SettingName } from '../config/table.js';
import { assignment, type BudgetNames, remedies } from './window-remedies.js';

type Budgeted = Pick<Settings, 'budget' | 'context' | 'compression' | 'models'>;

/** Refuses F + R >= W for every configured context length: the global one, and that of each model. */
export function windowProblems(settings: Budgeted, sources: Sources): SettingProblem[] {
  const { budget, models } = settings;
  const ids = [...(budget.contextLength === undefined ? [] : [undefined]), ...models.keys()];
  return ids.map((id) => check(settings, sources, id)).filter((problem) => problem !== undefined);
}

function check(settings: Budgeted, sources: Sources, id: string | undefined): SettingProblem | undefined {
  const { budget, compression } = settings;
  const model: ModelSettings = (id === undefined ? undefined : settings.models.get(id)) ?? {};
  const contextLength = model.contextLength ?? budget.contextLength;
  if (contextLength === undefined) return undefined;
  const table = new Map(Object.entries(compression.modelThresholds));
  const sizes = {
    contextLength,
    threshold: model.threshold ?? resolveModelThreshold(id ?? '', table, compression.threshold),
    engineUsesWholeContext: settings.context.engine === 'none',
    compressionWindowTokens: budget.compressionWindowTokens,
  };
  const window = windowOf(sizes);
  const cap = model.maxOutputTokens ?? budget.maxOutputTokens;
  const reserve = effectiveReserve(model.minOutputTokens ?? budget.minOutputTokens, cap);
  const margin = budget.fallbackMarginTokens;
  const refusal = startRefusal({ window, reserve, margin });
  if (refusal === undefined) return undefined;
  const names = namesOf(id, model, sources);
  const stated = budget.compressionWindowTokens;
  const limit =
    stated !== undefined && stated <= contextLength
      ? assignment(names.window, stated)
      : assignment(names.length, contextLength);
  const whose = id === undefined ? '' : ` of model ${id}`;
  return {
    setting: `${names.margin} + ${names.reserve}`,
    value: `${margin} + ${reserve}`,
    rule: `must be less than the window${whose}, ${window} tokens by ${limit}`,
    example: remedies(refusal, sizes, names),
  };
}

function namesOf(id: string | undefined, model: ModelSettings, sources: Sources): BudgetNames {
  const own = (key: keyof ModelSettings, fileKey: string, name: SettingName) =>
    model[key] === undefined ? nameOf(name, sources) : `models.${id}.${fileKey}`;
  return {
    margin: nameOf('FALLBACK_MARGIN_TOKENS', sources),
    reserve: own('minOutputTokens', 'min_output_tokens', 'MIN_OUTPUT_TOKENS'),
    length: own('contextLength', 'context_length', 'CONTEXT_LENGTH'),
    window: nameOf('COMPRESSION_WINDOW_TOKENS', sources),
  };
}

/** As the user wrote it, where a user did. */
function nameOf(name: SettingName, sources: Sources): string {
  const source = sources.get(name);
  return source === undefined || source.origin === 'default' ? environmentName(name) : source.writtenAs;
}
