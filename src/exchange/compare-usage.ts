import type { AnswerObserver } from '../stream/answer-observer.js';
import type { RelayEnd } from '../stream/relay.js';
import { UsageTail } from '../stream/usage-tail.js';
import type { ExchangeParts } from './parts.js';
import type { Plan } from './plan.js';

/** What keeps the end of the answer, where the count is to be compared with it. */
export function usageTail({ facts }: Plan, observer: AnswerObserver | undefined): UsageTail | undefined {
  return facts.compared === undefined ? undefined : (observer?.tail ?? new UsageTail());
}

/** Compares the count of a request with the usage of its whole answer. */
export function compareUsage(
  { facts: { compared } }: Plan,
  tail: UsageTail | undefined,
  end: RelayEnd,
  { drift, metrics, warnings, models }: ExchangeParts,
): void {
  if (compared === undefined || tail === undefined) return;
  if (end.outcome !== 'complete' || end.status !== 200) return;
  try {
    const reported = tail.promptTokens;
    if (reported === undefined) return;
    const difference = drift.note(compared, reported);
    if (difference === undefined) return;
    metrics.countDrift.observe(difference);
    if (difference !== 0) {
      const { model, shape, tokens } = compared;
      warnings.countDrifted(models.label(model), shape, tokens, reported);
    }
  } catch (error) {
    // The answer has gone: whatever it has in place of a usage is no concern of the client's.
    warnings.failOpen('internal_error', error);
  }
}
