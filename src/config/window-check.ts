import type { SettingProblem } from './problem.js';
import type { ModelSettings, Settings } from './settings.js';

type Budgeted = Pick<Settings, 'budget' | 'context' | 'compression' | 'models'>;

/**
 * Refuses F + R >= W for every configured context length (design, section 5): not even an empty prompt would
 * leave the reserve while the tokenizer is out. Token counts throughout.
 */
export function windowProblems(settings: Budgeted): SettingProblem[] {
  const { budget, models } = settings;
  const problems = [...models].map(([id, model]) => {
    const length = model.contextLength ?? budget.contextLength;
    return length === undefined ? undefined : refusal(settings, length, id, model);
  });
  if (budget.contextLength !== undefined)
    problems.unshift(refusal(settings, budget.contextLength, undefined, {}));
  return problems.filter((problem) => problem !== undefined);
}

function refusal(
  settings: Budgeted,
  length: number,
  id: string | undefined,
  model: ModelSettings,
): SettingProblem | undefined {
  const { budget } = settings;
  const margin = budget.fallbackMarginTokens;
  const cap = model.maxOutputTokens ?? budget.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const reserve = Math.min(model.minOutputTokens ?? budget.minOutputTokens, cap);
  const window = windowOf(settings, length, model.threshold ?? thresholdOf(settings, id));
  if (margin + reserve < window) return undefined;
  const whose = id === undefined ? '' : ` of model ${id}`;
  return {
    setting: `FALLBACK_MARGIN_TOKENS + MIN_OUTPUT_TOKENS${whose}`,
    value: `${margin} + ${reserve}`,
    rule: `must be less than the compression window of ${window} tokens (context length ${length})`,
    example: fitting(window, margin, reserve),
  };
}

function windowOf({ budget, context }: Budgeted, length: number, threshold: number): number {
  const own = context.engine === 'none' ? length : Math.floor(length * threshold);
  return Math.min(budget.compressionWindowTokens ?? own, length);
}

/** The threshold under the longest part of the model's name, the first of equals. */
function thresholdOf({ compression }: Budgeted, id: string | undefined): number {
  const parts = Object.keys(compression.modelThresholds).filter((part) => id?.includes(part) === true);
  const longest = Math.max(...parts.map((part) => part.length));
  const part = parts.find((each) => each.length === longest);
  return (part === undefined ? undefined : compression.modelThresholds[part]) ?? compression.threshold;
}

/** Margin and reserve in their present proportion, in the window's lower half. */
function fitting(window: number, margin: number, reserve: number): string {
  if (window < 2) return 'a larger context length';
  const scale = window / 2 / (margin + reserve);
  const fits = Math.max(1, Math.floor(reserve * scale));
  return `FALLBACK_MARGIN_TOKENS=${Math.floor(margin * scale)}, MIN_OUTPUT_TOKENS=${fits}`;
}
