import type { Measures } from './measures.js';
import type { Bar } from './scenarios.js';

/** The bars first, then everything else that was measured. */
export function tableOf(bars: readonly Bar[], found: Measures, seconds: number): string {
  const rows = bars.map(({ name, value, bar, met }) => [name, shown(value), bar, met ? 'ok' : 'MISSED']);
  const further: [string, unknown][] = [
    ['requests', found.requests],
    ['summary calls refused', found.refusedSummaries],
    ['summary tokens', found.summaryTokens],
    ['uncached tokens', found.uncachedTokens],
    ['prompt tokens', found.promptTokens],
    ['longest prompt', found.longestPrompt],
    ['prefix breaks', `${found.prefixBreaks.length}: ${found.prefixBreaks.join(' ')}`],
    ['calls that need ids', `${found.neededCalls}, missed ${found.neededMissed}`],
    ['not in view', found.missed.join(', ')],
    ['actions', JSON.stringify(found.actions)],
    ['seconds', seconds.toFixed(1)],
  ];
  return [...rows, [], ...further.map(([name, value]) => [name, String(value)])].map(line).join('\n');
}

function line([name = '', value = '', bar = '', met = '']: readonly string[]): string {
  return `${name.padEnd(28)} ${value.padEnd(10)} ${bar.padEnd(10)} ${met}`.trimEnd();
}

function shown(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(4);
}
