import type { Outcome } from './player.js';
import { commonShare, continues, uncachedTokens } from './prefixes.js';
import { firstOccurrences, type Recording, textOf } from './recording.js';
import type { Upstreamed } from './relay.js';
import { brokenPairs } from './tool-pairs.js';

/** What a run showed. Shares are between 0 and 1, sizes in tokens. */
export interface Measures {
  readonly requests: number;
  /** Requests that got no answer, or another than was given upstream. */
  readonly clientFailures: number;
  /** Upstream requests whose prompt and cap together exceed the context length. */
  readonly over: number;
  readonly brokenPairs: number;
  readonly asked: number;
  readonly right: number;
  /** The values that were not in view when they were asked for. */
  readonly missed: readonly string[];
  readonly summaryCalls: number;
  readonly refusedSummaries: number;
  /** Prompts and answers of all summary calls. */
  readonly summaryTokens: number;
  /** How much of a request's prompt the next one begins with: the mean. */
  readonly prefixMean: number;
  /** Steps whose messages do not begin with all bytes of the request before. */
  readonly prefixBreaks: readonly number[];
  readonly promptTokens: number;
  readonly longestPrompt: number;
  readonly uncachedTokens: number;
  /** Requests without the client's last user message as it is. */
  readonly lastUserLost: number;
  /** Of the ids seen so far, how many are in view: the mean, and at the end. */
  readonly idsMean: number;
  readonly idsEnd: number;
  /** Tool calls that need an id from before, and those without one of theirs in view. */
  readonly neededCalls: number;
  readonly neededMissed: number;
  readonly actions: Readonly<Record<string, number>>;
}

export interface Run {
  readonly recording: Recording;
  readonly contextLength: number;
  readonly outcomes: readonly Outcome[];
  /** Everything that went upstream, summary calls included. */
  readonly seen: readonly Upstreamed[];
}

export function measure({ recording, contextLength, outcomes, seen }: Run): Measures {
  const asked = seen.filter(({ run }) => run !== undefined);
  const summaries = seen.filter(({ run }) => run === undefined);
  return {
    requests: outcomes.length,
    clientFailures: outcomes.filter((outcome) => hasFailed(outcome, asked)).length,
    over: seen.filter((one) => one.promptIds.length + (one.cap ?? 1) > contextLength).length,
    brokenPairs: sum(asked.map(({ request }) => brokenPairs(request.messages))),
    ...answered(recording, asked),
    summaryCalls: summaries.length,
    refusedSummaries: summaries.filter(({ status }) => status !== 200).length,
    summaryTokens: sum(summaries.map((one) => one.promptIds.length + one.completionTokens)),
    ...prefixes(asked),
    promptTokens: sum(asked.map(({ promptIds }) => promptIds.length)),
    longestPrompt: Math.max(0, ...asked.map(({ promptIds }) => promptIds.length)),
    uncachedTokens: uncachedTokens(asked.map(({ promptIds }) => promptIds)),
    lastUserLost: asked.filter((one) => !hasLastUser(one, recording)).length,
    ...idsInView(recording, asked),
    actions: counted(outcomes.map(({ action, reason }) => `${action}:${reason}`)),
  };
}

function hasFailed({ step, status, message }: Outcome, asked: readonly Upstreamed[]): boolean {
  const given = asked.findLast((one) => one.step === step)?.reply?.message;
  return status !== 200 || JSON.stringify(message) !== JSON.stringify(given);
}

function answered(
  { questions }: Recording,
  asked: readonly Upstreamed[],
): Pick<Measures, 'asked' | 'right' | 'missed'> {
  const last = [...questions].map(([step, fact]) => ({ fact, one: asked.findLast((o) => o.step === step) }));
  const missed = last.filter(({ one }) => one?.reply?.right !== true).map(({ fact }) => fact.value);
  return { asked: questions.size, right: questions.size - missed.length, missed };
}

function prefixes(asked: readonly Upstreamed[]): Pick<Measures, 'prefixMean' | 'prefixBreaks'> {
  const pairs = asked.slice(1).map((after, at) => ({ before: asked[at] ?? after, after }));
  return {
    prefixMean: mean(pairs.map(({ before, after }) => commonShare(before.promptIds, after.promptIds))),
    prefixBreaks: pairs
      .filter(({ before, after }) => !continues(before, after))
      .map(({ after }) => after.step),
  };
}

function hasLastUser({ step, request }: Upstreamed, recording: Recording): boolean {
  const wanted = recording.messages.slice(0, step).findLast(({ role }) => role === 'user');
  const found = request.messages.findLast(({ role }) => role === 'user');
  return wanted === undefined || found?.content === wanted.content;
}

function idsInView(
  recording: Recording,
  asked: readonly Upstreamed[],
): Pick<Measures, 'idsMean' | 'idsEnd' | 'neededCalls' | 'neededMissed'> {
  const first = firstOccurrences(recording);
  const shares: number[] = [];
  let neededCalls = 0;
  let neededMissed = 0;
  for (const { step, body } of asked) {
    const view = body.toString('utf8');
    const known = [...first].filter(([, at]) => at < step).map(([id]) => id);
    if (known.length > 0) shares.push(known.filter((id) => view.includes(id)).length / known.length);
    const needed = known.filter((id) => isNeeded(recording, step, id));
    neededCalls += needed.length > 0 ? 1 : 0;
    neededMissed += needed.every((id) => view.includes(id)) ? 0 : 1;
  }
  return { idsMean: mean(shares), idsEnd: shares.at(-1) ?? 1, neededCalls, neededMissed };
}

function isNeeded({ messages }: Recording, step: number, id: string): boolean {
  const message = messages[step];
  return message?.role === 'assistant' && message.tool_calls !== undefined && textOf(message).includes(id);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 1 : sum(numbers) / numbers.length;
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
