import { isFields } from '../../conversation/canonical.js';
import { estimateTokens } from '../../estimate/estimate.js';
import type { PassFailure } from './compress-view.js';
import type { ExchangeBudget } from './exchange-link.js';
import type { Visit } from './visit.js';

/** So many new tokens make another pass worth it, in a large window a twentieth of it. */
const NEW_TOKENS = 1024;
/** In a small window that share of it does, where nothing could go. */
const SMALL_WINDOW_SHARE = 1 / 8;

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
  const grown = budget.promptTokens - stuck.promptTokens;
  if (stuck.reason !== 'irreducible') {
    // For a prompt that fits no other way an engine may do what it would not do before: an extract in an outage.
    const isFirstTooLong = isTooLong(budget, budget) && !isTooLong(stuck, budget);
    const isOver = performance.now() - stuck.at >= failurePauseMs;
    const hasGrown = grown >= Math.max(NEW_TOKENS, budget.window / 20);
    return isFirstTooLong || isOver || hasGrown ? undefined : stuck.reason;
  }
  const since = visit.chain.messages.slice(end + 1);
  // Without a pass the server refuses it, or cuts its answer: what is new may be what can go.
  if (!hasRoom(budget) && (since.length > 0 || grown > 0)) return undefined;
  const freed = since.some(isUser) ? stuck.turnTokens : 0;
  const enough = Math.max(Math.min(NEW_TOKENS, budget.window * SMALL_WINDOW_SHARE), budget.window / 20);
  return grown + freed >= enough ? undefined : stuck.reason;
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

/** True where the whole context has room for `required`: the request fits without a pass. */
function hasRoom({ promptTokens, contextLength, required }: ExchangeBudget): boolean {
  return contextLength - promptTokens >= required;
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
