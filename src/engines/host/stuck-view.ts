import type { PassFailure } from './compress-view.js';
import type { ExchangeBudget } from './exchange-link.js';
import type { Visit } from './visit.js';

/** After a pass that failed for another reason than the conversation's size. */
const FAILURE_PAUSE_MS = 30_000;
const LEAST_NEW_TOKENS = 1024;

/** A view that a pass could not help. */
export interface StuckView {
  /** The chain hash at its end. */
  readonly end: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly reason: PassFailure;
  /** In the time of `performance.now()`. */
  readonly at: number;
}

/** Why another pass would be in vain as yet; `undefined`: it may help. */
export function stuckReason(visit: Visit, budget: ExchangeBudget): PassFailure | undefined {
  const { stuck } = visit.conversation;
  if (stuck === undefined || stuck.model !== budget.model) return undefined;
  if (!visit.path.some(({ hash }) => hash === stuck.end)) return undefined;
  const isPaused = stuck.reason === 'irreducible' || performance.now() - stuck.at < FAILURE_PAUSE_MS;
  const grown = budget.promptTokens - stuck.promptTokens;
  const hasGrown = grown >= Math.max(LEAST_NEW_TOKENS, budget.window / 20);
  return isPaused && !hasGrown ? stuck.reason : undefined;
}

export function rememberStuck(
  visit: Visit,
  { model, promptTokens }: Pick<ExchangeBudget, 'model' | 'promptTokens'>,
  reason: PassFailure,
): void {
  const end = visit.path.at(-1)?.hash;
  if (end === undefined) return;
  visit.conversation.stuck = { end, model, promptTokens, reason, at: performance.now() };
}
