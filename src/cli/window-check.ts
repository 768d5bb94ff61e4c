import { resolveModelThreshold } from '../budget/model-threshold.js';
import { effectiveReserve, type StartRefusal, startRefusal, windowOf } from '../budget/window.js';
import type { SettingProblem } from '../config/problem.js';
import type { ModelSettings, Settings } from '../config/settings.js';
import { environmentName } from '../config/table.js';

type Budgeted = Pick<Settings, 'budget' | 'context' | 'compression' | 'models'>;

/** Refuses F + R >= W for every configured context length: the global one, and that of each model. */
export function windowProblems(settings: Budgeted): SettingProblem[] {
  const { budget, models } = settings;
  const problems = [...models].map(([id, model]) => {
    const length = model.contextLength ?? budget.contextLength;
    return length === undefined ? undefined : check(settings, length, id, model);
  });
  if (budget.contextLength !== undefined)
    problems.unshift(check(settings, budget.contextLength, undefined, {}));
  return problems.filter((problem) => problem !== undefined);
}

function check(
  { budget, context, compression }: Budgeted,
  contextLength: number,
  id: string | undefined,
  model: ModelSettings,
): SettingProblem | undefined {
  const table = new Map(Object.entries(compression.modelThresholds));
  const window = windowOf({
    contextLength,
    threshold: model.threshold ?? resolveModelThreshold(id ?? '', table, compression.threshold),
    engineUsesWholeContext: context.engine === 'none',
    compressionWindowTokens: budget.compressionWindowTokens,
  });
  const cap = model.maxOutputTokens ?? budget.maxOutputTokens;
  const reserve = effectiveReserve(model.minOutputTokens ?? budget.minOutputTokens, cap);
  const margin = budget.fallbackMarginTokens;
  const refusal = startRefusal({ window, reserve, margin });
  if (refusal === undefined) return undefined;
  const names = {
    margin: environmentName('FALLBACK_MARGIN_TOKENS'),
    reserve:
      model.minOutputTokens === undefined
        ? environmentName('MIN_OUTPUT_TOKENS')
        : `models.${id}.min_output_tokens`,
  };
  const whose = id === undefined ? '' : ` of model ${id}`;
  return {
    setting: `${names.margin} + ${names.reserve}`,
    value: `${margin} + ${reserve}`,
    rule: `must be less than the window${whose}, ${window} tokens of a context length of ${contextLength}`,
    example: remedies(refusal, names),
  };
}

function remedies(
  { largestReserve, largestMargin, smallestWindow }: StartRefusal,
  names: { readonly margin: string; readonly reserve: string },
): string {
  const values = [
    largestReserve === undefined ? [] : [`${names.reserve}=${largestReserve}`],
    largestMargin === undefined ? [] : [`${names.margin}=${largestMargin}`],
    [`a window of ${smallestWindow} tokens`],
  ];
  return values.flat().join(', or ');
}
