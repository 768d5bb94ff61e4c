import { agentRuns } from './agent-runs.js';
import { longConversation } from './long-conversation.js';
import type { Measures } from './measures.js';
import { type Recording, turnStarts } from './recording.js';
import type { SummariserKind } from './summariser.js';

export const SCENARIOS = ['long', 'restart', 'cold', 'agent'] as const;
export type ScenarioName = (typeof SCENARIOS)[number];

export interface Scenario {
  readonly recording: Recording;
  readonly killAt?: number;
  readonly coldFrom?: number;
}

const KILL_TURN = 30;
/** Before it lie about 25,000 tokens, three windows of 8,192. */
const COLD_TURN = 39;

export function scenario(name: ScenarioName): Scenario {
  if (name === 'agent') return { recording: agentRuns() };
  const recording = longConversation();
  const turn = (number: number): number => turnStarts(recording.messages)[number - 1] ?? 0;
  if (name === 'restart') return { recording, killAt: turn(KILL_TURN) };
  if (name === 'cold') return { recording, coldFrom: turn(COLD_TURN) };
  return { recording };
}

/** A measure, what it must be, and whether it is. */
export interface Bar {
  readonly name: string;
  readonly value: number;
  readonly bar: string;
  readonly met: boolean;
}

const atMost = (name: string, value: number, most: number): Bar => ({
  name,
  value,
  bar: `<= ${most}`,
  met: value <= most,
});
const atLeast = (name: string, value: number, least: number): Bar => ({
  name,
  value,
  bar: `>= ${least}`,
  met: value >= least,
});

/** What is promised of a run, whenever its passes are made. */
export function barsOf(
  name: ScenarioName,
  contextLength: number,
  kind: SummariserKind,
  found: Measures,
): Bar[] {
  const always = [
    atMost('client failures', found.clientFailures, 0),
    atMost('over the window', found.over, 0),
    atMost('broken tool pairs', found.brokenPairs, 0),
    atMost('last user message lost', found.lastUserLost, 0),
  ];
  return [...always, ...(name === 'agent' ? agentBars(contextLength, found) : longBars(kind, found))];
}

function longBars(kind: SummariserKind, found: Measures): Bar[] {
  const least = { good: 12, lossy: 10, amnesic: 10 }[kind];
  return [
    atLeast(`answers right of ${found.asked}`, found.right, least),
    atMost('summary calls', found.summaryCalls, 8),
    atLeast('common prefix, mean', found.prefixMean, 0.94),
    atMost('uncached + summary tokens', found.uncachedTokens + found.summaryTokens, 60_000),
  ];
}

function agentBars(contextLength: number, found: Measures): Bar[] {
  const isSmall = contextLength <= 8192;
  const { neededCalls, neededMissed } = found;
  return [
    atLeast('ids in view, mean', found.idsMean, isSmall ? 0.8 : 0.95),
    // Not promised: the mean is. Reached with 8,192: 0.57 early, 0.73 when due.
    atLeast('ids in view, at the end', found.idsEnd, isSmall ? 0.5 : 0.95),
    atLeast('calls with all ids in view', neededCalls === 0 ? 1 : 1 - neededMissed / neededCalls, 0.98),
    atLeast('common prefix, mean', found.prefixMean, 0.96),
    atMost('summary calls', found.summaryCalls, 20),
    ...(isSmall ? [atMost('uncached tokens', found.uncachedTokens, 130_000)] : []),
  ];
}
