import { isFields } from '../../conversation/canonical.js';
import { estimateTokens } from '../../estimate/estimate.js';
import type { PassFailure } from './compress-view.js';
import type { ExchangeBudget } from './exchange-link.js';
import type { Visit } from './visit.js';

const LEAST_NEW_TOKENS = 1024;

/** A view that a pass could not help. */
export interface StuckView {
  /** The chain hash at its end. */
  readonly end: string;
  readonly model: string;
  readonly promptTokens: number;
  /** About what its last user message and all behind it take: the next one frees that for a pass. */
  readonly turnTokens: number;
  readonly reason: PassFailure;
  /** In the time of `performance.now()`. */
  readonly at: number;
}

/**
 * Why another pass would be in vain as yet; `undefined`: it may help.
 * @param failurePauseMs after a pass that failed for another reason than the conversation's size.
 */
export function stuckReason(
  visit: Visit,
  budget: ExchangeBudget,
  failurePauseMs: number,
): PassFailure | undefined {
  const { stuck } = visit.conversation;
  if (stuck === undefined || stuck.model !== budget.model) return undefined;
  const end = visit.path.findIndex(({ hash }) => hash === stuck.end);
  if (end < 0) return undefined;
  // For a prompt that fits no other way an engine may do what it would not do before: an extract in an outage.
  const isFirstTooLong = isTooLong(budget, budget) && !isTooLong(stuck, budget);
  if (isFirstTooLong && stuck.reason !== 'irreducible') return undefined;
  const isPaused = stuck.reason === 'irreducible' || performance.now() - stuck.at < failurePauseMs;
  const isNextTurn = visit.chain.messages.slice(end + 1).some(isUser);
  const freed = stuck.reason === 'irreducible' && isNextTurn ? stuck.turnTokens : 0;
  const grown = budget.promptTokens - stuck.promptTokens + freed;
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
  const messages = visit.messages();
  const turn = messages.slice(Math.max(0, messages.findLastIndex(isUser)));
  const turnTokens = estimateTokens({ messages: turn });
  visit.conversation.stuck = { end, model, promptTokens, turnTokens, reason, at: performance.now() };
}

/** True where the context has no room for an answer. */
function isTooLong(
  { promptTokens }: Pick<ExchangeBudget, 'promptTokens'>,
  { contextLength }: ExchangeBudget,
): boolean {
  return promptTokens >= contextLength - 1;
}

function isUser(message: unknown): boolean {
  return isFields(message) && message.role === 'user';
}
