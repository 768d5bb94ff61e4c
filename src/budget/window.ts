/** From which W, the compression window, follows. Lengths in tokens. */
export interface WindowSettings {
  readonly contextLength: number;
  /** Share of the context length above which compression is due, in (0, 1]. */
  readonly threshold: number;
  /** True for an engine that never compresses: its window is the whole context length. */
  readonly engineUsesWholeContext: boolean;
  /** States W outright. */
  readonly compressionWindowTokens?: number | undefined;
}

/** W in tokens, never above the context length. */
export function windowOf(settings: WindowSettings): number {
  const { contextLength, threshold, engineUsesWholeContext, compressionWindowTokens } = settings;
  const share = engineUsesWholeContext ? contextLength : Math.floor(contextLength * threshold);
  return Math.min(compressionWindowTokens ?? share, contextLength);
}

/**
 * R, which an operator-wide output cap below it lowers.
 * @throws RangeError where the reserve is below one token.
 */
export function effectiveReserve(reserve: number, operatorCap: number | undefined): number {
  if (reserve < 1) throw new RangeError('the minimum output reserve must be at least one token');
  return Math.min(reserve, operatorCap ?? reserve);
}

/**
 * P where exact counting failed: the estimate, at least one token, + F.
 * @throws RangeError where the margin is negative.
 */
export function estimatedPrompt(estimate: number, margin: number): number {
  if (margin < 0) throw new RangeError('the fallback margin must not be negative');
  return Math.max(1, Math.trunc(estimate)) + margin;
}

/** Token counts: W, R (already effective) and F. */
export interface ReserveSettings {
  readonly window: number;
  readonly reserve: number;
  readonly margin: number;
}

/** Why these settings are refused, and what would fit. */
export interface StartRefusal {
  readonly message: string;
  /** The largest reserve that fits beside this margin; `undefined`: none does. */
  readonly largestReserve: number | undefined;
  /** The largest margin that fits beside this reserve; `undefined`: none does. */
  readonly largestMargin: number | undefined;
  /** The smallest window in which both fit. */
  readonly smallestWindow: number;
}

/**
 * Refuses F + R >= W: an estimate is at least one token, so that in a tokenizer outage not even an empty prompt
 * would leave R tokens of output. `undefined`: the settings fit.
 */
export function startRefusal({ window, reserve, margin }: ReserveSettings): StartRefusal | undefined {
  if (margin + reserve < window) return undefined;
  const largestReserve = atLeast(1, window - margin - 1);
  const largestMargin = atLeast(0, window - reserve - 1);
  const smallestWindow = margin + reserve + 1;
  const remedies = [
    largestReserve === undefined ? [] : [`a reserve of at most ${largestReserve}`],
    largestMargin === undefined ? [] : [`a fallback margin of at most ${largestMargin}`],
    [`a window of at least ${smallestWindow}`],
  ].flat();
  const sum = `fallback margin ${margin} + output reserve ${reserve} = ${margin + reserve}`;
  const message = `${sum} must be below the window of ${window} tokens; would fit: ${remedies.join(', or ')}`;
  return { message, largestReserve, largestMargin, smallestWindow };
}

function atLeast(minimum: number, value: number): number | undefined {
  return value >= minimum ? value : undefined;
}
