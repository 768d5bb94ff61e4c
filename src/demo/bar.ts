/** How many cells of a bar belong to what. Together they are the bar's width. */
export interface BarCells {
  readonly prompt: number;
  readonly answer: number;
  readonly free: number;
}

/** Token counts. */
export interface BarFacts {
  readonly window: number;
  readonly prompt: number;
  readonly answer: number;
}

/** Draws a window to scale. What is not nothing has at least one cell; what is free only where there is one left. */
export function barCells({ window, prompt, answer }: BarFacts, width: number): BarCells {
  const scale = width / window;
  const least = (tokens: number) => (tokens > 0 ? 1 : 0);
  const promptCells = clamp(Math.round(prompt * scale), least(prompt), width - least(answer));
  const end = clamp(Math.round((prompt + answer) * scale), promptCells + least(answer), width);
  return { prompt: promptCells, answer: end - promptCells, free: width - end };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
