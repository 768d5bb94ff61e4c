import { type StartRefusal, type WindowSettings, windowOf } from '../budget/window.js';

/** The settings of a budget, each as the user wrote it. */
export interface BudgetNames {
  readonly margin: string;
  readonly reserve: string;
  readonly length: string;
  readonly window: string;
}

/** Values that would fit, each by itself: `INCONTEXT_MIN_OUTPUT_TOKENS=3975, or --context-length 5121`. */
export function remedies(
  { largestReserve, largestMargin, smallestWindow }: StartRefusal,
  sizes: WindowSettings,
  names: BudgetNames,
): string {
  const values = [
    largestReserve === undefined ? [] : [assignment(names.reserve, largestReserve)],
    largestMargin === undefined ? [] : [assignment(names.margin, largestMargin)],
    [largerWindow(smallestWindow, sizes, names)],
  ];
  return values.flat().join(', or ');
}

function largerWindow(wanted: number, sizes: WindowSettings, names: BudgetNames): string {
  const stated = sizes.compressionWindowTokens;
  if (stated === undefined) return assignment(names.length, lengthFor(wanted, sizes));
  return [
    stated < wanted ? [assignment(names.window, wanted)] : [],
    sizes.contextLength < wanted ? [assignment(names.length, wanted)] : [],
  ]
    .flat()
    .join(' with ');
}

/** The smallest context length that makes such a window. */
function lengthFor(window: number, sizes: WindowSettings): number {
  let length = sizes.engineUsesWholeContext ? window : Math.floor(window / sizes.threshold);
  while (windowOf({ ...sizes, contextLength: length }) < window) length += 1;
  return length;
}

/** A setting with a value, in the spelling of where it stands: flag, environment or file. */
export function assignment(name: string, value: number): string {
  if (name.startsWith('--')) return `${name} ${value}`;
  if (name.startsWith('models.')) return `${name}: ${value}`;
  const [key = name, file] = name.split(/ in (.*)/s);
  return file === undefined ? `${name}=${value}` : `${key}: ${value} in ${file}`;
}
