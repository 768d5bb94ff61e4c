import { checkResult } from '../../conversation/check-result.js';
import type { Message } from '../../conversation/message.js';
import { type Settled, settle } from '../../conversation/settle.js';
import { renderRequest, type ViewRow, viewMessages } from '../../conversation/view.js';
import { estimateTokens } from '../../estimate/estimate.js';
import { IrreducibleError } from '../contract.js';
import type { EngineInstance } from './engine-instance.js';
import type { ExchangeBudget, ExchangeLink } from './exchange-link.js';
import { unlessAborted } from './shared-pass.js';

export const MOST_PASSES = 3;

export interface CompressionOrder {
  readonly link: ExchangeLink;
  readonly budget: ExchangeBudget;
  readonly rows: readonly ViewRow[];
  /** P to get down to. */
  readonly targetTokens: number;
  readonly focusTopic: string | undefined;
  readonly force: boolean;
  /** Aborts with the exchange. */
  readonly signal: AbortSignal;
  /** In the time of `performance.now()`. */
  readonly deadlineAt: number;
  readonly mintUid: () => string;
  readonly onHeadChanged: () => void;
  /** Why an engine's work was refused or broke off, for the warning. */
  readonly onFailure: (failure: PassFailure, error: unknown) => void;
}

export type PassFailure = 'irreducible' | 'compression_failed' | 'compression_timeout';

/** What stands for the first messages of a request. */
export interface Compressed {
  readonly kind: 'compressed';
  /** Without the head. */
  readonly checkpointRows: readonly ViewRow[];
  /** How many of the client's messages they stand for, the head not counted. */
  readonly messages: number;
  readonly promptTokens: number;
  /** What the engine wrote: JSON text by key. */
  readonly writes: ReadonlyMap<string, string>;
}

export type CompressionOutcome = Compressed | { readonly kind: 'failed'; readonly reason: PassFailure };

/**
 * Has the engine shorten a view, pass after pass while it helps, down to the target. Every result is checked, and
 * counted exactly. Rejects only when the signal aborts.
 */
export async function compressView(
  order: CompressionOrder,
  instance: EngineInstance,
): Promise<CompressionOutcome> {
  const deadline = new AbortController();
  const timer = deadlineTimer(order.deadlineAt, deadline);
  const signal = AbortSignal.any([order.signal, deadline.signal]);
  const writes = new Map<string, string>();
  instance.services.lend({ link: order.link, signal, deadlineAt: order.deadlineAt, writes });
  try {
    return await passes(order, instance, signal, writes);
  } catch (error) {
    order.signal.throwIfAborted();
    const reason = failureOf(error, deadline.signal);
    order.onFailure(reason, error);
    return { kind: 'failed', reason };
  } finally {
    clearTimeout(timer);
    instance.services.takeBack();
  }
}

interface View {
  readonly rows: readonly ViewRow[];
  readonly promptTokens: number;
}

async function passes(
  order: CompressionOrder,
  instance: EngineInstance,
  signal: AbortSignal,
  writes: ReadonlyMap<string, string>,
): Promise<CompressionOutcome> {
  let view: View = { rows: order.rows, promptTokens: order.budget.promptTokens };
  let best: Compressed | undefined;
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    try {
      const { settled, promptTokens } = await onePass(order, view, instance, signal);
      if (promptTokens >= view.promptTokens) break;
      const { checkpointRows, messages, rows } = settled;
      best = { kind: 'compressed', checkpointRows, messages, promptTokens, writes };
      view = { rows, promptTokens };
    } catch (error) {
      if (best === undefined || signal.aborted) throw error;
      return best;
    }
    if (best.promptTokens <= order.targetTokens) return best;
  }
  if (best !== undefined) return best;
  throw new IrreducibleError('the result is not smaller than what went in');
}

async function onePass(
  order: CompressionOrder,
  view: View,
  instance: EngineInstance,
  signal: AbortSignal,
): Promise<{ readonly settled: Settled; readonly promptTokens: number }> {
  const { link, targetTokens, focusTopic, force } = order;
  const { engine } = instance;
  if (!force && !engine.hasContentToCompress(viewMessages(view.rows))) {
    throw new IrreducibleError('nothing to compress');
  }
  const snapshot = viewMessages(view.rows);
  const options = { currentTokens: view.promptTokens, targetTokens, focusTopic, force, signal };
  const work = Promise.resolve(engine.compress(viewMessages(view.rows), options));
  const output: unknown = await unlessAborted(work, signal);
  const turnMayShrink = isTurnTooBig(snapshot, view.promptTokens, targetTokens);
  const problem = checkResult(snapshot, output, { turnMayShrink });
  if (problem !== undefined) throw new InvalidResultError(problem);
  const settled = settle(view.rows, snapshot, output as Message[], order.mintUid);
  if (settled.headChanged) order.onHeadChanged();
  const rendered = link.read(renderRequest(link.request, settled.rows));
  return { settled, promptTokens: await link.count(rendered, signal, order.budget.isExact) };
}

/** An engine's result that is no valid replacement of what it was given; `message` is one of our codes. */
export class InvalidResultError extends Error {
  override readonly name = 'InvalidResultError';
}

/** True where head and last turn alone leave no room below the target for anything else. */
function isTurnTooBig(messages: readonly Message[], promptTokens: number, target: number): boolean {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const all = estimateTokens({ messages });
  const turn = estimateTokens({ messages: messages.slice(Math.max(0, last)) });
  const others = Math.max(0, all - turn);
  return promptTokens - (others / all) * promptTokens > target / 2;
}

function failureOf(error: unknown, deadline: AbortSignal): PassFailure {
  if (deadline.aborted) return 'compression_timeout';
  return error instanceof Error && error.name === 'IrreducibleError' ? 'irreducible' : 'compression_failed';
}

function deadlineTimer(deadlineAt: number, controller: AbortController): NodeJS.Timeout | undefined {
  if (deadlineAt === Number.POSITIVE_INFINITY) return undefined;
  return setTimeout(
    () => controller.abort(new Error('deadline')),
    Math.max(0, deadlineAt - performance.now()),
  );
}
